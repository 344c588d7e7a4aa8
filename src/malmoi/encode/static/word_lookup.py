"""Words found in vectors, many at once; those that are unknown are counted and reported."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from malmoi.arrays import BoolArray, Float32Array, Int64Array
from malmoi.encode.checkpoint.locate import UNIVERSAL
from malmoi.encode.tokens.text_stats import report
from malmoi.errors import UnknownWordError
from malmoi.subwords import has_hangul
from malmoi.vectors import Vectors

SHOWN = 5


def look_up(vectors: Vectors, words: Sequence[str]) -> tuple[Int64Array, Float32Array, BoolArray]:
    """The row of each word or -1, its vector [words, dim], and whether it has one.

    A word without a row may be there in another Unicode form, or be built from its n-grams.
    """
    rows = vectors.keys.find_all(words)
    known = rows >= 0
    table = np.zeros((len(words), vectors.dim), np.float32)
    table[known] = vectors.matrix[rows[known]]
    for i in np.flatnonzero(~known).tolist():
        try:
            table[i] = vectors.vector(words[i])
        except UnknownWordError:
            continue
        rows[i], known[i] = vectors.row(words[i]), True
    return rows, table, known


@dataclass
class WordStats:
    """Counts over any number of texts; `examples` are some of the unknown words."""

    texts: int = 0
    words: int = 0
    unknown: int = 0
    empty: int = 0
    examples: dict[str, None] = field(default_factory=dict)

    def count(self, sizes: npt.NDArray[np.int64], known: npt.NDArray[np.int64]) -> None:
        """Look at texts of so many words, so many of them known."""
        self.texts += len(sizes)
        self.words += int(sizes.sum())
        self.unknown += int((sizes - known).sum())
        self.empty += int(np.equal(known, 0).sum())

    def remember(self, unknown: Sequence[str]) -> None:
        """Keep a few examples."""
        self.examples.update(dict.fromkeys(unknown[: SHOWN - len(self.examples)]))

    def add(self, other: "WordStats") -> None:
        """Count what another call counted too."""
        for name in ("texts", "words", "unknown", "empty"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.remember(list(other.examples))

    def sentences(self, *, numbered: bool = True) -> list[str]:
        """What there is to say; texts are not listed."""
        such = f"such as {', '.join(self.examples)}"
        found = {
            f"words are unknown and were left out, {such}": (self.unknown, self.words),
            "texts have no known word: their vectors are zeros": (self.empty, self.texts),
        }
        told = [f"{count:,} of {total:,} {what}" for what, (count, total) in found.items() if count]
        if told and 2 * self.unknown > self.words and any(map(has_hangul, self.examples)):
            told[0] += f"; for Korean choose the model {UNIVERSAL}, or vectors of Korean words"
        return told

    def report(self, name: str) -> None:
        """Warn of what was counted."""
        report(self, name)
