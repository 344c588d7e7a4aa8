"""Labels from a file with one key, a tab and a label per line."""

import unicodedata
from collections.abc import Sequence
from pathlib import Path

from malmoi.errors import InvalidFileError
from malmoi.files.source import InputFile
from malmoi.project.points.fields import label_field
from malmoi.project.scene import Field

UNLABELLED = "no label"


def read_labels(path: str | Path, keys: Sequence[str]) -> tuple[Field, tuple[str, ...]]:
    """The label of each key, and notes about keys without a label."""
    label_by_key = _pairs(Path(path))
    labels = [label_by_key.get(_normalize(key), UNLABELLED) for key in keys]
    labelled = len(keys) - labels.count(UNLABELLED)
    if not labelled:
        raise InvalidFileError(
            f"{path} labels none of the {len(keys):,} keys: is it of other vectors?"
        )
    notes = []
    if labelled < len(keys):
        notes.append(f"{len(keys) - labelled:,} of {len(keys):,} points have no label in {path}")
    unused = len(label_by_key.keys() - {_normalize(key) for key in keys})
    if unused:
        notes.append(f"{unused:,} keys of {path} are not drawn")
    return label_field("label", labels), tuple(notes)


def _pairs(path: Path) -> dict[str, str]:
    """The label of each key of a file; the last counts if a key occurs twice."""
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
                f"{path}, line {number}: {line[:40]!r} is not a key, a tab and a label"
            )
        pairs[_normalize(key)] = label.strip()
    return pairs


def _normalize(key: str) -> str:
    return unicodedata.normalize("NFC", key)
