"""Whether vectors could be written, told before the long work that makes them."""

from pathlib import Path

from malmoi.files.source import check_name
from malmoi.files.targets import check_folder
from malmoi.formats import catalogue
from malmoi.formats.fasttext.write_fasttext import refuse_units
from malmoi.subwords import Subwords


def check_place(path: Path, subwords: Subwords | None = None) -> None:
    """Refuse a place where `save` could not write vectors, with these subwords or without."""
    check_name(path)
    name = catalogue.format_for(path, subwords=subwords is not None)
    catalogue.refuse_zipped(path, name)
    if name == "fasttext" and subwords is not None:
        refuse_units(subwords)
    check_folder(path)
