"""What the commands share: the options that all have, opening a model, printing an answer."""

import json
from collections.abc import Iterable
from typing import Annotated, Any

from cyclopts import Parameter

from malmoi.cli.shared.progress import progress_bar
from malmoi.errors import InvalidFileError
from malmoi.formats import load
from malmoi.query.neighbours import Neighbour
from malmoi.reporting.reporter import OovExplanation, Reporter
from malmoi.vectors import Vectors

Model = Annotated[str, Parameter(help="A file of vectors in any format, or glove-6b-50d.")]
AsJson = Annotated[
    bool, Parameter(name="--json", negative="", show_default=False, help="Print JSON.")
]
Count = Annotated[int, Parameter(name=["-k"], help="How many words to show.")]
Limit = Annotated[int | None, Parameter(help="Read only so many rows of the file.")]
RestrictVocab = Annotated[
    int | None, Parameter(help="Search only this many of the most frequent words.")
]


def open_model(model: str, limit: int | None = None) -> Vectors:
    """Load vectors with a progress bar."""
    try:
        with progress_bar(f"reading {model}") as progress:
            return load(model, limit=limit, progress=progress)
    except InvalidFileError:
        from malmoi.encode.checkpoint.locate import (
            refuse_encoder,  # imports more than a question needs
        )

        refuse_encoder(model)
        raise


class WordReporter(Reporter):
    """Warns of words without a row, and records which words answer instead, for JSON."""

    def __init__(self) -> None:
        self.read_as: dict[str, dict[str, float]] = {}

    def out_of_vocabulary(self, explanation: OovExplanation) -> None:
        """Warn, and record the shares of the words that answer."""
        super().out_of_vocabulary(explanation)
        if explanation.read_as:
            shares = explanation.read_as.items()
            self.read_as[explanation.word] = {word: round(share, 6) for word, share in shares}


def print_json(answer: Any) -> None:
    """An answer for programs."""
    print(json.dumps(answer, ensure_ascii=False, indent=2))


def print_json_list(answers: Iterable[Any]) -> None:
    """Answers for programs, a line each as soon as it is there, together one list."""
    before = "["
    for answer in answers:
        print(before, json.dumps(answer, ensure_ascii=False), sep="\n", end="")
        before = ","
    print("[]" if before == "[" else "\n]")


def as_records(found: list[Neighbour]) -> list[dict[str, object]]:
    """Neighbours for JSON."""
    return [{"key": one.key, "score": round(one.score, 6)} for one in found]


def print_neighbours(found: list[Neighbour]) -> None:
    """A word a line, its score before it."""
    for one in found:
        print(f"  {one.score:8.4f}  {one.key}")
