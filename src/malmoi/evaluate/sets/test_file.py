"""The text of a test file: UTF-8 or else CP949, made NFC; what was repaired is said.

Knows nothing of what the text means.
"""

import unicodedata
from math import isfinite, nan
from pathlib import Path

from malmoi.errors import InvalidFileError, warn
from malmoi.files.source import InputFile

LARGEST = 100 << 20  # bytes; the sets people use have less than one million


def read_text(path: Path) -> str:
    """All of a file, unzipped; refused if it is something larger, or no text."""
    source = InputFile(path)
    if source.size > LARGEST or b"\0" in source.head:
        raise InvalidFileError(
            f"{path} is no test of vectors but something larger, or not text at all"
        )
    text = _decoded(path, b"".join(block.tobytes() for block, _ in source.blocks()))
    if not unicodedata.is_normalized("NFC", text):
        warn(f"{path} is not in NFC; it was made so")
        text = unicodedata.normalize("NFC", text)
    return text


def name_of(path: Path) -> str:
    """What a set is called: its file's name without endings."""
    return path.name.removesuffix(".gz").rpartition(".")[0] or path.name


def number(text: str) -> float | None:
    """A finite number, if the text is one."""
    value = float(text) if is_number(text) else nan
    return value if isfinite(value) else None


def is_number(text: str) -> bool:
    """Whether the text is any number, finite or not: then it is no name of a column."""
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
    warn(f"{path} is not UTF-8; it was read as CP949")
    return text
