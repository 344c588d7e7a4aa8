"""Comparison: classifiers side by side, on the same texts, with their costs.

Everything in it is numbers, strings and tuples of them, so that it can be written as JSON, read
back from a cache, and shown by a page.
"""

from dataclasses import asdict, dataclass
from textwrap import fill
from typing import Any

from malmoi.classify.result import LabelScore
from malmoi.evaluate.scores import Score
from malmoi.evaluate.suites.differences import Difference
from malmoi.table import Table, Tabular

PERCENT, WIDTH, MAX_NAME = 100, 80, 22


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """The accuracy of a classifier that was trained on a share of the texts, `texts` of them."""

    share: float
    texts: int
    accuracy: float


@dataclass(frozen=True, kw_only=True)
class ExplainedMistake:
    """A test text that a classifier is sure to have another label than it has.

    `parts` are (part of the text, label it speaks for, by how much), most important first.
    """

    text: str
    label: str
    predicted: str
    probability: float
    parts: tuple[tuple[str, str, float], ...] = ()


@dataclass(frozen=True, kw_only=True)
class ModelScores:
    """How good one classifier is, over all seeds, and what it costs.

    `confusion[i][j]` counts test texts with label i that are classified as j; empty with several
    labels per text. `difference` is to the best classifier, None for itself.
    """

    name: str  # as given to `compare`
    kind: str  # for people, such as "linear, on hashed n-grams"
    accuracy: Score
    by_seed: tuple[float, ...]
    macro_f1: float
    calibration_error: float
    train_cpu_seconds: float
    texts_per_second: float  # of one CPU, classified
    size: int  # bytes of its file
    labels: tuple[LabelScore, ...]
    confusion: tuple[tuple[int, ...], ...]
    curve: tuple[CurvePoint, ...]
    mistakes: tuple[ExplainedMistake, ...]
    difference: Difference | None = None

    @property
    def half_interval(self) -> float:
        """Half of the width of the 95 % interval of the accuracy."""
        return ((self.accuracy.high or 0.0) - (self.accuracy.low or 0.0)) / 2

    @property
    def is_as_good_as_the_best(self) -> bool:
        """Whether the difference to the best is within the noise."""
        return self.difference is None or self.difference.verdict != "worse"


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(Tabular):
    """Classifiers from the best to the worst; `failed` are (name, why) of those without scores.

    `recommended` is the cheapest of those that are as good as the best within the noise, and
    `sentence` says so. `notes` are findings about the data.
    """

    data: str
    labels: tuple[str, ...]
    multi_label: bool
    train_texts: int
    test_texts: int  # of one seed
    seeds: tuple[int, ...]
    models: tuple[ModelScores, ...]
    failed: tuple[tuple[str, str], ...]
    recommended: str
    sentence: str
    notes: tuple[str, ...]
    seconds: float
    machine: str

    def to_dict(self) -> dict[str, Any]:
        """The comparison for JSON.

        Returns:
            Numbers, strings, lists and dicts.
        """
        return asdict(self)

    def __repr__(self) -> str:
        left_out = [f"{name} is left out: {reason}" for name, reason in self.failed]
        sentences = [fill(each, WIDTH) for each in (*left_out, self.sentence)]
        return "\n".join([self._table().text(), *sentences])

    def _table(self) -> Table:
        header = ["model", "accuracy %", "macro-F1", "CPU s", "texts/s", "size"]
        rows = [
            (
                short_name(one.name),
                f"{PERCENT * (one.accuracy.value or 0):.2f} ± {PERCENT * one.half_interval:.2f}"
                f"{'' if one.is_as_good_as_the_best else ' −'}",
                f"{PERCENT * one.macro_f1:.2f}",
                f"{one.train_cpu_seconds:,.1f}",
                f"{one.texts_per_second:,.0f}",
                readable_size(one.size),
            )
            for one in self.models
        ]
        seeds = "1 seed" if len(self.seeds) == 1 else f"{len(self.seeds)} seeds"
        title = f"{self.data}: {self.train_texts:,} texts, {seeds}"
        return Table(title, header, rows)


def short_name(name: str) -> str:
    """A long name without its middle."""
    half = MAX_NAME // 2
    return name if len(name) <= MAX_NAME else f"{name[:half]}…{name[1 - half :]}"


def readable_size(size: int) -> str:
    """Bytes as kB or MB."""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(size, 0) / 1e3:.0f} kB"
