"""The tables of GloVe: one row per word and one per context, random or from initial vectors."""

import json
from dataclasses import dataclass
from typing import Literal

import numpy as np

from malmoi.arrays import BoolArray, Float32Array, Int64Array
from malmoi.kernels.glove.glove_steps import FIXED
from malmoi.kernels.word2vec.rows import aligned_rows
from malmoi.models.cooccurrences import Cooccurrences
from malmoi.reporting.reporter import Reporter
from malmoi.train.common.options import matching_rows
from malmoi.vectors import Vectors
from malmoi.vocabulary import Vocabulary

VectorKind = Literal["sum", "word", "context", "both"]
BLOCK_ROWS = 1 << 16  # rows initialized at a time
SIMD_LANES = 8  # numbers per SIMD register; with their squares they fill a cache line

TablePair = tuple[Float32Array, Float32Array]  # of words and of contexts


@dataclass(frozen=True, eq=False, kw_only=True)
class GloVeTables:
    """Trained vectors and biases: w·c + b + d approximates the logarithm of a co-occurrence."""

    vocabulary: Vocabulary
    words: Float32Array
    contexts: Float32Array
    word_biases: Float32Array
    context_biases: Float32Array
    losses: tuple[float | None, ...]

    def vectors(self, kind: VectorKind = "sum") -> Vectors:
        """One vector per word: word vector, context vector, their sum, or both concatenated.

        Args:
            kind: Which vectors to return.

        Returns:
            The vectors; `context_matrix` holds the other table, so that training can continue.
        """
        matrix: Float32Array = self.words + self.contexts
        other: Float32Array | None = self.contexts
        if kind == "word":
            matrix = self.words
        elif kind == "context":
            matrix, other = self.contexts, self.words
        elif kind == "both":
            matrix, other = np.hstack([self.words, self.contexts]), None
        meta = {"method": "glove", "vectors": kind, "losses": json.dumps(self.losses)}
        return Vectors(self.vocabulary.words, matrix, self.vocabulary.counts, meta, other)


def split_tables(
    tables: TablePair, vocabulary: Vocabulary, dim: int, losses: tuple[float | None, ...]
) -> GloVeTables:
    """The vectors and biases by name, without the squared gradients."""
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
    """Bytes per row, with its squared gradients."""
    return 2 * width_of(dim) * 4


def width_of(dim: int) -> int:
    """Numbers per row before the squares: the vector, a bias, a 1, and padding."""
    return -(-(dim + 2) // SIMD_LANES) * SIMD_LANES


def random_tables(words: int, dim: int, seed: int) -> TablePair:
    """Rows as in the original program: small random numbers, all squares 1."""
    random = np.random.default_rng(seed)
    own, contexts = (aligned_rows(words, 2 * width_of(dim)) for _ in range(2))
    for table, one in ((own, dim + 1), (contexts, dim)):
        for first in range(0, words, BLOCK_ROWS):
            block = table[first : first + BLOCK_ROWS, : dim + 2]
            block[:] = (random.random(block.shape, dtype=np.float32) - 0.5) / (dim + 1)
        table[:, one] = 1
        table[:, width_of(dim) :] = 1
        table[:, width_of(dim) + one] = FIXED
    return own, contexts


def copy_init_vectors(
    init_vectors: Vectors,
    tables: TablePair,
    counts: Cooccurrences,
    kind: VectorKind,
    *,
    frozen: BoolArray,
    reporter: Reporter,
) -> None:
    """Let known words start from their vectors; those that are `frozen` [words] stay there.

    All biases start as if words were independent, P(i, j) = P(i) P(j): biases that start at 0
    would move the vectors along with them.
    """
    dim = init_vectors.dim // 2 if kind == "both" else init_vectors.dim
    rows = matching_rows(init_vectors, counts.vocabulary.words, reporter)
    known = np.flatnonzero(rows >= 0)
    half = np.log(counts.totals.sum()) / 2
    totals = counts.totals, counts.context_totals
    for side, vectors in enumerate(split_vectors(init_vectors, rows[known], kind)):
        table = tables[side]
        table[known, :dim] = vectors
        table[:, dim + side] = np.log(np.maximum(totals[side], 1)) - half
        if kind != ("context", "word")[side]:
            table[known[frozen[known]], width_of(dim) : width_of(dim) + dim] = FIXED


def split_vectors(init_vectors: Vectors, rows: Int64Array, kind: VectorKind) -> TablePair:
    """Word and context vectors from which `GloVeTables.vectors` returns these vectors."""
    matrix, half = init_vectors.matrix[rows], init_vectors.dim // 2
    if kind == "both":
        return matrix[:, :half], matrix[:, half:]
    meta, contexts = init_vectors.meta, init_vectors.context_matrix
    is_same_kind = meta.get("method") == "glove" and meta.get("vectors") == kind
    other = contexts[rows] if is_same_kind and contexts is not None else None
    if kind == "sum":
        other = matrix / np.float32(2) if other is None else other
        return matrix - other, other
    opposite = matrix if other is None else other
    return (matrix, opposite) if kind == "word" else (opposite, matrix)


def restore_frozen(vectors: Vectors, init_vectors: Vectors, frozen: BoolArray) -> None:
    """Give frozen words [words] exactly the vectors they started from.

    The steps of frozen rows are lost in rounding, except where a number is about 0.
    """
    rows = init_vectors.keys.find_all(vectors.keys)
    known = (rows >= 0) & frozen
    vectors.matrix[known] = init_vectors.matrix[rows[known]]
