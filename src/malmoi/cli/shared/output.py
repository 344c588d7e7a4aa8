"""Shared by the commands: common options, loading vectors, printing results."""

import json
from collections.abc import Iterable
from typing import Annotated, Any

from cyclopts import Parameter

from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.errors import InvalidFileError
from malmoi.formats import load
from malmoi.query.neighbours import Neighbour
from malmoi.reporting.reporter import OovExplanation, Reporter
from malmoi.vectors import Vectors

Model = Annotated[str, Parameter(help="A file of vectors in any format, or glove-6b-50d.")]
AsJson = Annotated[
    bool, Parameter(name="--json", negative="", show_default=False, help="Print JSON.")
]
Flag = Parameter(negative="", show_default=False)
Count = Annotated[int, Parameter(name=["-k"], help="How many words to show.")]
Limit = Annotated[int | None, Parameter(help="Read only the first rows of the file.")]
RestrictVocab = Annotated[
    int | None, Parameter(help="Search only this many of the most frequent words.")
]


def open_model(model: str, limit: int | None = None) -> Vectors:
    """Load vectors with a progress bar."""
    try:
        with TerminalReporter() as reporter:
            return load(model, limit=limit, reporter=reporter)
    except InvalidFileError:
        from malmoi.encode.checkpoint.locate import (
            check_not_encoder,  # imports more than a query needs
        )

        check_not_encoder(model)
        raise


class WordReporter(Reporter):
    """Warns of words without a row, and records which words answer instead, for JSON."""

    def __init__(self) -> None:
        self.read_as: dict[str, dict[str, float]] = {}

    def out_of_vocabulary(self, explanation: OovExplanation) -> None:
        """Warn, and record the shares of the words that answer."""
        self.warn(explanation.note)
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
