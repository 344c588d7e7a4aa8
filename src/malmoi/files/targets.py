"""Whether a file could be written, told before the long work that makes it."""

import os
from pathlib import Path

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.files.source import check_name


def check_folder(path: Path) -> None:
    """Refuse a file that cannot be made: no folder, or one that does not let you."""
    check_name(path)
    if not path.parent.is_dir():
        raise InvalidFileError(f"{path} cannot be written: there is no folder {path.parent}")
    if path.is_dir():
        raise InvalidFileError(f"{path} is a folder: name a file to write")
    if not os.access(path.parent, os.W_OK):
        raise InvalidFileError(f"{path} cannot be written: {path.parent} does not let you")


def refuse_source(source: Path, path: Path) -> None:
    """Refuse to write over the text itself, or among the files it is read from."""
    if source.exists() and path.exists() and source.samefile(path):
        raise InvalidArgumentError(f"{path} is the text itself: write to another file")
    if source.is_dir() and path.resolve().is_relative_to(source.resolve()):
        raise InvalidArgumentError(f"{path} is in the folder of the text: write elsewhere")
