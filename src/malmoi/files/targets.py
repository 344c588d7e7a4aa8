"""Checks that a file can be written, before the long work that computes it."""

import os
from pathlib import Path

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.files.source import check_name


def check_writable(path: Path) -> None:
    """Raise `InvalidFileError` if a file cannot be created: no folder, or no permission."""
    check_name(path)
    if not path.parent.is_dir():
        raise InvalidFileError(f"{path} cannot be written: there is no folder {path.parent}")
    if path.is_dir():
        raise InvalidFileError(f"{path} is a folder: name a file to write")
    if not os.access(path.parent, os.W_OK):
        raise InvalidFileError(f"{path} cannot be written: no permission to write {path.parent}")


def check_not_source(source: Path, path: Path) -> None:
    """Raise `InvalidArgumentError` if writing `path` would change the text that is read."""
    if source.exists() and path.exists() and source.samefile(path):
        raise InvalidArgumentError(f"{path} is the input text: write to another file")
    if source.is_dir() and path.resolve().is_relative_to(source.resolve()):
        raise InvalidArgumentError(f"{path} is in the folder of the input: write elsewhere")
