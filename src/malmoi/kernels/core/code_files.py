"""Files with machine code: the folders they may lie in, and a checksum against damage.

Machine code is pickled, and a pickle can execute anything. So a folder is used only if no one but
this user, the system and the owner of the kernels' source can write to it. Knows nothing of Numba.
"""

import os
import stat
import uuid
from functools import cache
from hashlib import blake2b
from pathlib import Path

from malmoi.cache_paths import cache_from_environment, user_cache_path

CHECKSUM = 32  # bytes
SHORT_DIGEST = 8  # bytes, in file names
KERNELS = Path(__file__).parents[1]


def code_folders(source: Path, named: str) -> list[Path]:
    """Folders for the code of kernels in a source file, best first: only `named` if it is set.

    Otherwise Python's own cache next to the source, then the user's cache folder.
    """
    if not source.is_file():  # defined interactively, or inside an archive
        return []
    parent = source.absolute().parent
    own = f"{parent.name}-{digest_of(str(parent).encode())}"
    if named:
        return [Path(named) / own]
    base = cache_from_environment()
    cache_folder = base / "kernels" if base is not None else user_cache_path("kernels")
    return [parent / "__pycache__", *([cache_folder / own] if cache_folder is not None else [])]


def is_safe(folder: Path, source: Path) -> bool:
    """Whether all users who can write to the folder can also change the kernels' source."""
    status = folder.stat()
    if not hasattr(os, "geteuid"):
        return True
    owners = (os.geteuid(), 0, source.stat().st_uid)
    return status.st_uid in owners and not status.st_mode & stat.S_IWOTH


def read_code(path: Path, source: Path) -> bytes | None:
    """The content of a file; None if it is missing, damaged or not trustworthy."""
    try:
        stored = path.read_bytes() if is_safe(path.parent, source) else b""
    except OSError:
        return None
    code = stored[CHECKSUM:]
    return code if stored[:CHECKSUM] == blake2b(code, digest_size=CHECKSUM).digest() else None


def write_code(path: Path, code: bytes, source: Path) -> None:
    """Write a file atomically; raises OSError."""
    mode = 0o777 if path.parent.parent == source.absolute().parent else 0o700
    path.parent.mkdir(mode, parents=True, exist_ok=True)
    if not is_safe(path.parent, source):
        raise PermissionError(0, "other users can write to it")
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex}")  # unique to this thread and process
    try:
        with part.open("xb") as file:
            file.write(blake2b(code, digest_size=CHECKSUM).digest() + code)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def source_stamp(source: Path) -> str:
    """A digest of a kernel's source and of all kernels, since any may be inlined."""
    own = source.read_bytes() if source.is_file() and KERNELS not in source.parents else b""
    return digest_of(kernels_stamp().encode() + own)


@cache
def kernels_stamp() -> str:
    """A digest of the sources of all kernels when the first of them was imported."""
    files = sorted(KERNELS.rglob("*.py"))
    return digest_of(b"".join(digest_of(file.read_bytes()).encode() for file in files))


def digest_of(content: bytes) -> str:
    """A short hexadecimal digest."""
    return blake2b(content, digest_size=SHORT_DIGEST).hexdigest()
