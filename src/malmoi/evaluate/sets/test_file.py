"""The text of a test file: UTF-8 or CP949, normalized to NFC; repairs are reported.

Knows nothing of the content of the text.
"""

import unicodedata
from math import isfinite, nan
from pathlib import Path

from malmoi.errors import InvalidFileError, warn
from malmoi.files.source import InputFile

MAX_BYTES = 100 << 20  # the common sets have less than one million


def read_text(path: Path) -> str:
    """The whole file, decompressed; raises `InvalidFileError` if it is too large or not text."""
    source = InputFile(path)
    if source.size > MAX_BYTES or b"\0" in source.head:
        raise InvalidFileError(f"{path} is not a test set: it is too large, or not text")
    text = _decoded(path, b"".join(block.tobytes() for block, _ in source.blocks()))
    if not unicodedata.is_normalized("NFC", text):
        warn(f"{path} was not in NFC and has been normalized")
        text = unicodedata.normalize("NFC", text)
    return text


def set_name(path: Path) -> str:
    """The name of a set: its file name without suffixes."""
    return path.name.removesuffix(".gz").rpartition(".")[0] or path.name


def parse_number(text: str) -> float | None:
    """The finite number that the text spells, or None."""
    value = float(text) if is_number(text) else nan
    return value if isfinite(value) else None


def is_number(text: str) -> bool:
    """Whether the text spells a number, finite or not, and so is not the name of a column."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _decoded(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    try:
        text = content.decode("cp949")
    except UnicodeDecodeError as error:
        raise InvalidFileError(f"{path} is neither UTF-8 nor CP949: save it as UTF-8") from error
    warn(f"{path} is not UTF-8 and was read as CP949")
    return text
