"""Paths of cache folders, and a callback for caches that cannot be written.

Creates no folder and imports nothing but the standard library.
"""

import os
from collections.abc import Callable
from pathlib import Path


def ignore(sentence: str) -> None:
    """Drop a message."""


on_write_error: Callable[[str], None] = ignore  # `malmoi.errors.warn`, which malmoi/__init__ sets


def cache_from_environment() -> Path | None:
    """The cache folder set in the environment variable MALMOI_CACHE."""
    folder = os.environ.get("MALMOI_CACHE")
    return Path(folder) if folder else None


def user_cache_path(kind: str) -> Path | None:
    """The folder for one kind of cache in the user's cache folder; None without a home."""
    base = os.environ.get("XDG_CACHE_HOME")
    if not base:
        try:
            base = str(Path.home() / ".cache")
        except RuntimeError:  # HOME is not set, and the system does not know the user
            return None
    return Path(base) / "malmoi" / kind


def is_writable(folder: Path) -> bool:
    """Whether this process can write to a folder, or can create it."""
    folder = folder.absolute()
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
