"""Whether vectors could be written, told before the long work that makes them."""

import os
from pathlib import Path

from malmoi.errors import BadFile
from malmoi.files.source import check_name
from malmoi.formats import catalogue
from malmoi.formats.fasttext_output import refuse_units
from malmoi.subwords import Subwords


def check_place(path: Path, subwords: Subwords | None = None) -> None:
    """Refuse a place where `save` could not write vectors, with these subwords or without."""
    check_name(path)
    name = catalogue.format_for(path, subwords=subwords is not None)
    catalogue.refuse_zipped(path, name)
    if name == "fasttext" and subwords is not None:
        refuse_units(subwords)
    if not path.parent.is_dir():
        raise BadFile(f"{path} cannot be written: there is no folder {path.parent}")
    if path.is_dir():
        raise BadFile(f"{path} is a folder: name a file to write")
    if not os.access(path.parent, os.W_OK):
        raise BadFile(f"{path} cannot be written: {path.parent} does not let you")
