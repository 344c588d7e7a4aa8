"""The folder of one kind of cache, and a temporary one where no cache folder can be written.

`MALMOI_CACHE` is used as it is. Otherwise each kind of cache has its own folder in the user's
cache folder: `$XDG_CACHE_HOME/malmoi/KIND` or `~/.cache/malmoi/KIND`. A process that can write
neither, such as a container that runs as another user than built it, gets a temporary folder.
"""

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

from malmoi.cache_paths import cache_from_environment, is_writable, user_cache_path
from malmoi.errors import InvalidFileError, warn


def cache_folder(kind: str) -> Path:
    """The folder for one kind of cache; it may not exist yet."""
    folder = cache_from_environment()
    if folder is not None:
        return folder
    folder = user_cache_path(kind)
    return folder if folder is not None and is_writable(folder) else temporary_folder() / kind


@cache
def temporary_folder() -> Path:
    """A folder that only this user can read, removed when the process ends."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="malmoi-"))
    except OSError as error:
        raise InvalidFileError(
            "neither a cache folder nor a temporary folder can be written"
            f" ({error.strerror or error}): name a folder in MALMOI_CACHE"
        ) from error
    atexit.register(remove, folder, os.getpid())
    warn(
        f"no cache folder can be written: {folder} is used and removed at the end; name a folder"
        " in MALMOI_CACHE to reuse what is computed"
    )
    return folder


def remove(folder: Path, owner: int) -> None:
    """Remove the folder, unless this process was forked from the one that owns it."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
