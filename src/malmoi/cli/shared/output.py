"""Shared by the commands: common options, loading vectors, printing results."""

import json
from collections.abc import Iterable
from typing import Annotated, Any

from cyclopts import Parameter

from malmoi.errors import InvalidFileError, warn
from malmoi.explanation import Explanation
from malmoi.formats import load
from malmoi.query.neighbours import Neighbour
from malmoi.reporting.progress_bar import ProgressReporter
from malmoi.vectors import Vectors

Model = Annotated[str, Parameter(help="A file of vectors in any format, or glove-6b-50d.")]
AsJson = Annotated[
    bool, Parameter(name="--json", negative="", show_default=False, help="Print JSON.")
]
Count = Annotated[int, Parameter(name=["-k"], help="How many words to show.")]
Limit = Annotated[int | None, Parameter(help="Read only the first rows of the file.")]
MostFrequent = Annotated[
    int | None, Parameter(help="Look only through so many of the most frequent words.")
]

Readings = dict[str, dict[str, float]]  # of words as they were typed: words meant, their shares


def open_model(model: str, limit: int | None = None) -> Vectors:
    """Load vectors with a progress bar."""
    try:
        with ProgressReporter() as reporter:
            return load(model, limit=limit, reporter=reporter)
    except InvalidFileError:
        from malmoi.encode.checkpoint.locate import (
            check_not_encoder,  # imports more than a query needs
        )

        check_not_encoder(model)
        raise


class WordNotes:
    """Says which words have no row and what answers instead; and keeps it, for JSON."""

    def __init__(self) -> None:
        self.read_as: Readings = {}

    def __call__(self, explanation: Explanation) -> None:
        """Say it of one word."""
        warn(explanation.note)
        if explanation.read_as:
            shares = explanation.read_as.items()
            self.read_as[explanation.word] = {word: round(share, 6) for word, share in shares}


def print_json(result: Any) -> None:
    """Print a result as JSON."""
    print(json.dumps(result, ensure_ascii=False, indent=2))


def print_json_list(results: Iterable[Any]) -> None:
    """Print results as one JSON list, each on a line as soon as it is computed."""
    separator = "["
    for result in results:
        print(separator, json.dumps(result, ensure_ascii=False), sep="\n", end="")
        separator = ","
    print("[]" if separator == "[" else "\n]")


def as_records(neighbours: list[Neighbour]) -> list[dict[str, object]]:
    """Neighbours for JSON."""
    return [{"key": each.key, "score": round(each.score, 6)} for each in neighbours]


def print_neighbours(neighbours: list[Neighbour]) -> None:
    """Print one word per line, after its score."""
    for each in neighbours:
        print(f"  {each.score:8.4f}  {each.key}")
