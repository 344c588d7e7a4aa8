"""What GloVe learns: a row for each word and one for each context, random or given at first."""

import json
from dataclasses import dataclass
from typing import Literal

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.kernels.glove.glove_steps import FIXED
from malmoi.kernels.word2vec.rows import aligned_rows
from malmoi.models.cooccurrences import Cooccurrences
from malmoi.train.word2vec.initialization import find_words
from malmoi.vectors import Vectors
from malmoi.vocabulary import Vocabulary

Kind = Literal["sum", "word", "context", "both"]
PART = 1 << 16  # rows that random numbers are drawn for at a time
LANES = 8  # numbers that a processor takes at a time; with their squares they fill a line

Sides = tuple[Float32Array, Float32Array]  # of words and of contexts


@dataclass(frozen=True, eq=False, kw_only=True)
class GloVeTables:
    """Both sides of what was learnt: w·c + b + d is near the logarithm of how often they met."""

    vocabulary: Vocabulary
    words: Float32Array
    contexts: Float32Array
    word_biases: Float32Array
    context_biases: Float32Array
    losses: tuple[float, ...]

    def vectors(self, kind: Kind = "sum") -> Vectors:
        """A vector for each word: its own, its as a context, their sum, or both end to end.

        What the matrix does not tell of the two sides is in `output`.
        """
        matrix: Float32Array = self.words + self.contexts
        output: Float32Array | None = self.contexts
        if kind == "word":
            matrix = self.words
        elif kind == "context":
            matrix, output = self.contexts, self.words
        elif kind == "both":
            matrix, output = np.hstack([self.words, self.contexts]), None
        meta = {"method": "glove", "vectors": kind, "losses": json.dumps(self.losses)}
        return Vectors(self.vocabulary.words, matrix, self.vocabulary.counts, meta, output)


def taken_apart(
    tables: Sides, vocabulary: Vocabulary, dim: int, losses: tuple[float, ...]
) -> GloVeTables:
    """What was learnt, by name and without the squares."""
    words, contexts = tables
    return GloVeTables(
        vocabulary=vocabulary,
        words=words[:, :dim].copy(),
        contexts=contexts[:, :dim].copy(),
        word_biases=words[:, dim].copy(),
        context_biases=contexts[:, dim + 1].copy(),
        losses=losses,
    )


def row_bytes(dim: int) -> int:
    """How much memory a row takes, with its squares."""
    return 2 * width_of(dim) * 4


def width_of(dim: int) -> int:
    """How many numbers a row has before the squares: the vector, a bias, a 1, and padding."""
    return -(-(dim + 2) // LANES) * LANES


def random_tables(words: int, dim: int, seed: int) -> Sides:
    """Rows as the original program begins: small and random, all squares 1."""
    random = np.random.default_rng(seed)
    own, contexts = (aligned_rows(words, 2 * width_of(dim)) for _ in range(2))
    for table, one in ((own, dim + 1), (contexts, dim)):
        for first in range(0, words, PART):
            part = table[first : first + PART, : dim + 2]
            part[:] = (random.random(part.shape, dtype=np.float32) - 0.5) / (dim + 1)
        table[:, one] = 1
        table[:, width_of(dim) :] = 1
        table[:, width_of(dim) + one] = FIXED
    return own, contexts


def begin_from(
    start: Vectors, tables: Sides, counts: Cooccurrences, kind: Kind, *, frozen: bool
) -> None:
    """Give the words found in `start` their vectors; `frozen` ones will not move.

    All biases begin as if words met by chance alone, P(i, j) = P(i) P(j): from 0 they would
    pull the vectors along on their way.
    """
    dim = start.dim // 2 if kind == "both" else start.dim
    found = find_words(start, counts.vocabulary.words)
    known = np.flatnonzero(found >= 0)
    half = np.log(counts.totals.sum()) / 2
    totals = counts.totals, counts.context_totals
    for side, vectors in enumerate(sides_of(start, found[known], kind)):
        table = tables[side]
        table[known, :dim] = vectors
        table[:, dim + side] = np.log(np.maximum(totals[side], 1)) - half
        if frozen and kind != ("context", "word")[side]:
            table[known, width_of(dim) : width_of(dim) + dim] = FIXED


def sides_of(start: Vectors, rows: Int64Array, kind: Kind) -> Sides:
    """What words and contexts begin with: such that the given vectors would come of it."""
    matrix = start.matrix[rows]
    if kind == "both":
        return matrix[:, : start.dim // 2], matrix[:, start.dim // 2 :]
    alike = start.meta.get("method") == "glove" and start.meta.get("vectors") == kind
    other = start.output[rows] if alike and start.output is not None else None
    if kind == "sum":
        other = matrix / np.float32(2) if other is None else other
        return matrix - other, other
    opposite = matrix if other is None else other
    return (matrix, opposite) if kind == "word" else (opposite, matrix)


def keep_rows(vectors: Vectors, start: Vectors) -> None:
    """Give words the very vectors they began with.

    What is fixed moves by less than can be added to a number, but for numbers that are about 0.
    """
    found = start.keys.find_all(vectors.keys)
    known = found >= 0
    vectors.matrix[known] = start.matrix[found[known]]
