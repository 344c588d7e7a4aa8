"""Labels that the user gives: a file of lines, each a key, a tab and a label."""

import unicodedata
from collections.abc import Sequence
from pathlib import Path

from malmoi.errors import InvalidFileError
from malmoi.files.source import InputFile
from malmoi.project.points.fields import label_field
from malmoi.project.scene import Field

UNLABELLED = "no label"


def read_labels(path: str | Path, keys: Sequence[str]) -> tuple[Field, tuple[str, ...]]:
    """The label of each key, and what is to be said about those without one."""
    told = _pairs(Path(path))
    labels = [told.get(_uniform(key), UNLABELLED) for key in keys]
    found = len(keys) - labels.count(UNLABELLED)
    if not found:
        raise InvalidFileError(
            f"{path} labels none of the {len(keys):,} keys: is it of other vectors?"
        )
    notes = []
    if found < len(keys):
        notes.append(f"{len(keys) - found:,} of {len(keys):,} points have no label in {path}")
    unused = len(told.keys() - {_uniform(key) for key in keys})
    if unused:
        notes.append(f"{unused:,} keys of {path} are not drawn")
    return label_field("label", labels), tuple(notes)


def _pairs(path: Path) -> dict[str, str]:
    """The lines of a file; of a key named twice the last counts."""
    content = b"".join(block.tobytes() for block, _ in InputFile(path).blocks())
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InvalidFileError(
            f"{path} is not UTF-8 text: {error.reason} at byte {error.start}"
        ) from error
    pairs = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        key, tab, label = line.partition("\t")
        if not tab or not label.strip():
            raise InvalidFileError(
                f"{path}, line {number}: {line[:40]!r} is no key, a tab and a label"
            )
        pairs[_uniform(key)] = label.strip()
    return pairs


def _uniform(key: str) -> str:
    return unicodedata.normalize("NFC", key)
