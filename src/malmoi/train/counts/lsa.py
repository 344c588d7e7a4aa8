"""Latent semantic analysis: word vectors from a truncated SVD of a sparse matrix.

The matrix is documents × words, weighted by TF-IDF as scikit-learn's TfidfVectorizer does unless
told otherwise (smoothed idf, rows of length 1; a document is a line), or words × contexts of
positive pointwise mutual information.
"""

from dataclasses import dataclass
from math import isfinite
from typing import Literal, get_args

import numpy as np

from malmoi.arrays import Float32Array, Int64Array, UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.core.jit import pool
from malmoi.kernels.counts.sparse_counts import count_documents, multiply_twice
from malmoi.kernels.marks import LINE_END
from malmoi.kernels.threads import THREADS
from malmoi.models.cooccurrences import spans
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.train.counts.cooccurrence import Cooccurrence, Folder, count_cooccurrences, count_words
from malmoi.train.counts.pmi import PMI, mutual_information
from malmoi.vectors import Vectors
from malmoi.vocabulary import Vocabulary

Kind = Literal["tf-idf", "ppmi"]
BLOCK = 16  # vectors that are multiplied at a time
TOLERANCE = 2e-4  # of the largest singular value; the error is far below the last change
FAINT = 1e-5  # of the largest singular value; what is below is 0, but for rounding


@dataclass(frozen=True, kw_only=True)
class LSA:
    """How words become vectors of `dim` numbers.

    Each dimension is multiplied by its singular value to the `power`: 1 keeps the dot products
    of the matrix's rows, less makes large dimensions count less (Levy et al. 2015, section 3.3).
    Of TF-IDF, scikit-learn's TruncatedSVD has the words' vectors of power 0 in `components_.T`.
    `window`, `shift` and `smoothing` are for `ppmi` alone, and so is `memory_mb`.
    """

    dim: int = 100
    """Numbers in a vector."""
    matrix: Kind = "tf-idf"
    """Documents by words, or words by words beside them."""
    power: float = 0.5
    """Of the singular values that dimensions are multiplied by."""
    window: int = 5
    """PPMI: how many words away is still beside."""
    shift: float = 1.0
    """PPMI: information below the logarithm of this is none."""
    smoothing: float = 0.75
    """PPMI: of the contexts' counts, to this power."""
    memory_mb: float = 2048
    """PPMI: for counting, in megabytes."""
    seed: int = 1
    """Same seed: same vectors."""

    def __post_init__(self) -> None:
        if self.dim < 1:
            raise InvalidArgumentError(f"dim is {self.dim}: a vector has at least 1 number")
        if self.matrix not in get_args(Kind):
            raise InvalidArgumentError(f"'{self.matrix}' is no matrix: choose tf-idf or ppmi")
        if not isfinite(self.power):
            raise InvalidArgumentError(f"power is {self.power}: give a number, such as 0, 0.5 or 1")
        if self.seed < 0:
            raise InvalidArgumentError(f"seed is {self.seed}: it is at least 0")
        _ = self.counting, self.information  # they check what is theirs

    @property
    def counting(self) -> Cooccurrence:
        """How contexts are counted."""
        return Cooccurrence(window=self.window, memory_mb=self.memory_mb)

    @property
    def information(self) -> PMI:
        """What becomes of the counts."""
        return PMI(shift=self.shift, smoothing=self.smoothing)


@dataclass(frozen=True, eq=False)
class Sparse:
    """A matrix by rows: columns and values of row i from `starts[i]` to `starts[i + 1]`."""

    starts: Int64Array
    columns: UInt32Array
    values: Float32Array
    width: int

    def twice(self, dense: Float32Array) -> tuple[Float32Array, Float32Array]:
        """A · dense and Aᵀ · A · dense, for this matrix A."""
        product = np.empty((len(self.starts) - 1, dense.shape[1]), dtype=np.float32)

        def multiply(rows: tuple[int, int]) -> Float32Array:
            gram = np.zeros((self.width, dense.shape[1]), dtype=np.float32)
            multiply_twice(self.starts, self.columns, self.values, dense, product, gram, *rows)
            return gram

        share = len(self.columns) // THREADS + 1
        grams = list(pool().map(multiply, spans(np.diff(self.starts), share)))
        return product, np.sum(grams, axis=0)


def train_lsa(
    ids: UInt32Array,
    vocabulary: Vocabulary,
    settings: LSA | None = None,
    *,
    folder: Folder = None,
    progress: Progress = no_progress,
) -> Vectors:
    """Vectors of the words of a stream of ids: LINE_END after each line."""
    settings = settings or LSA()
    if settings.matrix == "tf-idf":
        matrix = tf_idf(ids, vocabulary)
    else:
        counts = count_cooccurrences(ids, vocabulary, settings.counting, folder=folder)
        ppmi = mutual_information(counts, settings.information, folder=folder)
        matrix = Sparse(ppmi.starts, ppmi.columns, ppmi.values, len(vocabulary))
    most = min(len(matrix.starts) - 1, matrix.width)
    if settings.dim > most:
        raise InvalidArgumentError(
            f"dim is {settings.dim}: a matrix of {len(matrix.starts) - 1:,} ×"
            f" {matrix.width:,} has at most {most:,} dimensions"
        )
    right = right_vectors(matrix, settings.dim, settings.seed, progress)
    product, _ = matrix.twice(right)  # each column is a left singular vector times its value
    values = np.sqrt(np.einsum("ij,ij->j", product, product, dtype=np.float64))
    there = values > FAINT * values.max(initial=0)
    units = right if settings.matrix == "tf-idf" else product / np.where(there, values, 1)
    largest = units[np.abs(units).argmax(axis=0), np.arange(settings.dim)]
    scales = np.power(values, settings.power, out=np.zeros_like(values), where=there)
    scales[largest < 0] *= -1  # of the two signs always the same
    meta = {"method": "lsa", "matrix": settings.matrix}
    return Vectors(vocabulary.words, units * scales, vocabulary.counts, meta)


def tf_idf(ids: UInt32Array, vocabulary: Vocabulary) -> Sparse:
    """Lines × words: tf · (log((1 + lines) / (1 + lines with the word)) + 1), rows of length 1."""
    counts = count_words(ids, vocabulary)
    lines = counts[-1] + (len(ids) > 0 and ids[-1] != LINE_END)
    seen = counts[:-2].sum()
    columns, values = np.empty(seen, dtype=np.uint32), np.empty(seen, dtype=np.float32)
    starts = np.zeros(lines + 1, dtype=np.int64)
    count_documents(np.asarray(ids), len(vocabulary), columns, values, starts)
    columns, values = columns[: starts[-1]], values[: starts[-1]]
    lines_with = np.bincount(columns, minlength=len(vocabulary))
    values *= (np.log((1 + lines) / (1 + lines_with)) + 1).astype(np.float32)[columns]
    rows = np.repeat(np.arange(lines), np.diff(starts))
    lengths = np.sqrt(np.bincount(rows, values**2, lines)).astype(np.float32)
    values /= lengths[rows]
    return Sparse(starts, columns, values, len(vocabulary))


def right_vectors(matrix: Sparse, dim: int, seed: int, progress: Progress) -> Float32Array:
    """The right singular vectors [width, dim] of the largest singular values.

    Block Lanczos with thick restart: a basis grows by what Aᵀ · A adds to its last block; when
    it is full, its best directions are kept and it grows anew, until the values stay.
    """
    full, kept = 2 * dim + 3 * BLOCK, dim + BLOCK
    if matrix.width <= full:
        everything = np.eye(matrix.width, dtype=np.float32)
        return best_directions(everything, matrix.twice(everything)[1], dim)[1]
    basis = np.empty((matrix.width, full), dtype=np.float32)
    size, gram = 0, np.empty((0, 0), dtype=np.float32)  # gram is basisᵀ · Aᵀ · A · basis
    start = np.random.default_rng(seed).standard_normal((matrix.width, BLOCK), dtype=np.float32)
    block = orthogonal(start, basis[:, :0])
    values = np.zeros(kept, dtype=np.float32)
    expected = (full + 2 * (full - kept)) // BLOCK
    for step in range(1, 10 * expected):
        _, image = matrix.twice(block)
        basis[:, size : size + BLOCK] = block
        size += BLOCK
        border = basis[:, :size].T @ image
        gram = np.hstack([np.vstack([gram, border[:-BLOCK].T]), border])
        block = orthogonal(image, basis[:, :size])
        progress(step, max(step, expected))
        if size + BLOCK > full:
            before = values
            values, basis[:, :kept] = best_directions(basis[:, :size], gram, kept)
            size, gram = kept, np.diag(values**2)
            if np.abs(values[:dim] - before[:dim]).max() <= TOLERANCE * values[0]:
                break
    return np.ascontiguousarray(basis[:, :dim])


def best_directions(
    basis: Float32Array, gram: Float32Array, count: int
) -> tuple[Float32Array, Float32Array]:
    """The largest singular values to be had within a basis, and their vectors."""
    squares, directions = np.linalg.eigh(gram.astype(np.float64))
    largest = slice(-1, -count - 1, -1)
    values = np.sqrt(np.maximum(squares[largest], 0)).astype(np.float32)
    return values, basis @ directions[:, largest].astype(np.float32)


def orthogonal(block: Float32Array, basis: Float32Array) -> Float32Array:
    """What a block adds to a basis, as unit vectors; again, against what rounding leaves."""
    for _ in range(3):
        block = block - basis @ (basis.T @ block)
        squares, directions = np.linalg.eigh((block.T @ block).astype(np.float64))
        lengths = np.sqrt(np.maximum(squares, 1e-6 * squares[-1] + 1e-30))
        block = block @ (directions / lengths).astype(np.float32)
    return block
