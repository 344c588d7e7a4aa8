"""ClassExplanation: what in a text speaks for which label, and by how much."""

from dataclasses import dataclass

from malmoi.table import HEAD, Table, Tabular


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """A part of a text and its share of a label's score.

    `spans` are where it occurs, as positions in the text; all occurrences count once together.
    """

    part: str
    label: str
    value: float
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class ClassExplanation(Tabular):
    """The label of a text, and the contributions to the scores, largest first.

    Scores are log odds: a label's contributions and its `bias` add up to its score. With two
    labels a part speaks for one of them, by as much as it speaks against the other. Positions of
    parts are those in `text`, which is the text in NFC.
    """

    text: str
    label: str
    probability: float
    bias: float
    contributions: tuple[Contribution, ...]

    def __repr__(self) -> str:
        return self._table().text()

    def _table(self) -> Table:
        rows = [
            (f"‘{one.part}’", one.label, round(one.value, 3)) for one in self.contributions[:HEAD]
        ]
        title = f"{self.label}: {100 * self.probability:.1f} %"
        return Table(title, ["n-gram", "speaks for", "by"], rows, len(self.contributions))
