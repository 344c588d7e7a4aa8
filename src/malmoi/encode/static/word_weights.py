"""Weights of words in the average of a text: equal, idf, or SIF.

Word frequencies come from the counts of the vectors. Without counts they are estimated from the
order of the rows, which is that of frequency, by Zipf's law: the word in row r has the share
(1 / r) / Σ (1 / r). For idf, texts can be used instead.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np

from malmoi.arrays import Float32Array, Float64Array, Int64Array
from malmoi.errors import InvalidArgumentError
from malmoi.vectors import Vectors

WordWeighting = Literal["mean", "idf", "sif"]
WEIGHTINGS: tuple[WordWeighting, ...] = get_args(WordWeighting)
TokenLists = Iterable[Sequence[str]]  # texts as their words


class WordWeights(Protocol):
    """Assigns weights to words."""

    @property
    def source(self) -> str:
        """The source of the word frequencies."""

    def __call__(self, words: Sequence[str], rows: Int64Array) -> Float32Array:
        """The weight of each word, [words]; `rows` are their rows, or -1."""


@dataclass(frozen=True)
class EqualWeights:
    """The plain mean."""

    source: str = ""

    def __call__(self, words: Sequence[str], rows: Int64Array) -> Float32Array:
        """1 for each word."""
        return np.ones(len(words), np.float32)


@dataclass(frozen=True, eq=False)
class RowWeights:
    """A weight for each row of the vectors, and one for words without a row."""

    table: Float32Array
    other: float
    source: str

    def __call__(self, words: Sequence[str], rows: Int64Array) -> Float32Array:
        """The weights of the words' rows."""
        return np.where(rows < 0, np.float32(self.other), self.table[rows])


@dataclass(frozen=True, eq=False)
class VocabularyWeights:
    """A weight for each word of some texts, and one for all others."""

    table: Mapping[str, float]
    other: float
    source: str

    def __call__(self, words: Sequence[str], rows: Int64Array) -> Float32Array:
        """The weights of the words."""
        return np.array([self.table.get(word, self.other) for word in words], np.float32)


def weigh_words(
    vectors: Vectors, weighting: WordWeighting, documents: TokenLists | None, smoothing: float
) -> WordWeights:
    """The weights by name; `smoothing` is the parameter a of SIF."""
    if weighting not in WEIGHTINGS:
        known = ", ".join(WEIGHTINGS)
        raise InvalidArgumentError(f"weighting must be one of {known}; got '{weighting}'")
    if weighting == "mean":
        return EqualWeights()
    if weighting == "idf" and documents is not None:
        return _document_frequencies(documents)
    shares, rarest, source = word_shares(vectors)
    if weighting == "idf":
        return RowWeights(_float32(-np.log(shares)), float(-np.log(rarest)), source)
    return RowWeights(_float32(smoothing / (smoothing + shares)), 1.0, source)


def word_shares(vectors: Vectors) -> tuple[Float64Array, float, str]:
    """The share of each row's word, that of a word with count 1, and the source."""
    if vectors.counts is not None:
        counts = np.maximum(vectors.counts, 1).astype(np.float64)
        total = float(counts.sum()) or 1.0
        return counts / total, 1 / total, "the vectors' counts"
    shares = 1 / np.arange(1, len(vectors) + 1, dtype=np.float64)
    shares /= shares.sum() or 1.0
    return shares, float(shares[-1]) if len(shares) else 1.0, "the order of the rows"


def _document_frequencies(documents: TokenLists) -> VocabularyWeights:
    """ln((1 + texts) / (1 + texts with the word)) + 1, scikit-learn's smooth idf."""
    count, holding = 0, Counter[str]()
    for document in documents:
        count += 1
        holding.update(set(document))
    idf = {word: float(np.log((1 + count) / (1 + n)) + 1) for word, n in holding.items()}
    return VocabularyWeights(idf, float(np.log(1 + count) + 1), f"{count:,} texts")


def _float32(numbers: Float64Array) -> Float32Array:
    return numbers.astype(np.float32)
