"""ClassExplanation: what in a text speaks for which label, and by how much."""

import re
from dataclasses import dataclass

from malmoi.table import HEAD, Table, Tabular

WORD = re.compile(r"\S+")


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

    def by_word(self) -> tuple[Contribution, ...]:
        """How much each word speaks for the label of the text: the sum over its characters.

        The value of a part is spread evenly over the characters of all its occurrences; parts that
        speak for another label count against.

        Returns:
            One contribution for each word, largest first; all are for `label`.
        """
        values = [0.0] * len(self.text)
        for one in self.contributions:
            sign = 1 if one.label == self.label else -1
            size = sum(stop - start for start, stop in one.spans)
            for start, stop in one.spans:
                for i in range(start, stop):
                    values[i] += sign * one.value / size
        words: dict[str, list[tuple[int, int]]] = {}
        for match in WORD.finditer(self.text):
            words.setdefault(match[0], []).append(match.span())
        contributions = [
            Contribution(
                part=word,
                label=self.label,
                value=sum(sum(values[start:stop]) for start, stop in spans),
                spans=tuple(spans),
            )
            for word, spans in words.items()
        ]
        return tuple(sorted(contributions, key=lambda one: -one.value))

    def __repr__(self) -> str:
        return self._table().text()

    def _table(self) -> Table:
        rows = [
            (f"‘{one.part}’", one.label, round(one.value, 3)) for one in self.contributions[:HEAD]
        ]
        title = f"{self.label}: {100 * self.probability:.1f} %"
        return Table(title, ["n-gram", "speaks for", "by"], rows, len(self.contributions))
