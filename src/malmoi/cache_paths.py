"""Paths of cache folders, and a callback for caches that cannot be written.

Makes no folder, and imports nothing but the standard library.
"""

import os
from collections.abc import Callable
from pathlib import Path


def ignore(sentence: str) -> None:
    """Drop a message."""


on_write_error: Callable[[str], None] = ignore  # `malmoi.errors.warn`, which malmoi/__init__ sets


def given_cache() -> Path | None:
    """The folder that the user names in MALMOI_CACHE."""
    given = os.environ.get("MALMOI_CACHE")
    return Path(given) if given else None


def user_cache(kind: str) -> Path | None:
    """The folder for one kind of cache below the user's cache folder; None without a home."""
    base = os.environ.get("XDG_CACHE_HOME")
    if not base:
        try:
            base = str(Path.home() / ".cache")
        except RuntimeError:  # HOME is not set, and the system does not know the user
            return None
    return Path(base) / "malmoi" / kind


def can_write(folder: Path) -> bool:
    """Whether a folder can be written, or be made where it does not exist."""
    folder = folder.absolute()
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)
