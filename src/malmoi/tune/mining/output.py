"""Mined triplets as a file that `malmoi tune sentence` reads: JSON lines, CSV or TSV."""

import csv
import io
import json
from pathlib import Path

from malmoi.errors import InvalidArgumentError
from malmoi.files.output import open_output
from malmoi.files.targets import check_writable
from malmoi.text.readers import TabSeparated
from malmoi.tune.mining.mine import MinedNegatives, MinedTriplet

SUFFIXES = (".jsonl", ".csv", ".tsv")
TEXTS = ("anchor", "positive", "negative")
SCORES = ("positive_score", "negative_score")
MARGIN = "margin"  # the label of the objective margin_mse
DIGITS = 6  # of scores


def check_triplets(path: Path) -> None:
    """Raise if a path has another suffix or cannot be written, before long work."""
    if path.suffix not in SUFFIXES:
        raise InvalidArgumentError(f"{path} must end in {', '.join(SUFFIXES)}")
    check_writable(path)


def write_triplets(
    mined: MinedNegatives, path: Path, *, scores: bool = False, margins: bool = False
) -> None:
    """Write one triplet per row, atomically.

    With `scores`, the cosines of the positive and the negative follow; with `margins`, their
    difference is the label for the objective `margin_mse`.
    """
    check_triplets(path)
    names = [*TEXTS, *(SCORES if scores else ()), *([MARGIN] if margins else ())]
    rows = [_row(triplet, names) for triplet in mined.triplets]
    with open_output(path) as (file,):
        if path.suffix == ".jsonl":
            lines = (json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False)
                     for row in rows)  # fmt: skip
            text = "".join(f"{line}\n" for line in lines)
        else:
            text = _table(names, rows, is_tsv=path.suffix == ".tsv")
        file.write(text.encode("utf-8", "replace"))


def _row(triplet: MinedTriplet, names: list[str]) -> list[str | float]:
    values = triplet._asdict()
    return [
        round(value, DIGITS) if isinstance(value := values[name], float) else value
        for name in names
    ]


def _table(names: list[str], rows: list[list[str | float]], *, is_tsv: bool) -> str:
    """A table with a header; TSV has no quoting, so white space in its fields becomes one space."""
    stream = io.StringIO()
    if not is_tsv:
        csv.writer(stream, lineterminator="\n").writerows([names, *rows])
        return stream.getvalue()
    writer = csv.writer(stream, TabSeparated, lineterminator="\n", quotechar=None)
    for row in [names, *rows]:
        writer.writerow([" ".join(cell.split()) if isinstance(cell, str) else cell for cell in row])
    return stream.getvalue()
