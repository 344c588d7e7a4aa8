"""Latent semantic analysis: word vectors from a truncated SVD of a sparse matrix.

The matrix is documents × words, weighted by TF-IDF with the defaults of scikit-learn's
TfidfVectorizer (smoothed idf, rows of length 1; a document is a line), or words × contexts of
positive pointwise mutual information.
"""

from dataclasses import dataclass
from math import isfinite
from typing import Literal, get_args

import numpy as np

from malmoi.arguments import check_numbers, settings_or_default
from malmoi.arrays import Float32Array, Int64Array, UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.core.jit import pool
from malmoi.kernels.counts.sparse_counts import count_documents, multiply_twice
from malmoi.kernels.marks import LINE_END
from malmoi.kernels.threads import THREADS
from malmoi.models.cooccurrences import spans
from malmoi.reporting.reporter import DEFAULT_REPORTER, Progress, Reporter, expect_reporter
from malmoi.text.encoded import VocabularySettings
from malmoi.text.tokenizers import Tokenizer
from malmoi.train.common.inputs import TextInput, encode_text
from malmoi.train.counts.cooccurrence import (
    Cooccurrence,
    FolderPath,
    count_cooccurrences,
    count_words,
)
from malmoi.train.counts.pmi import PMI, mutual_information
from malmoi.vectors import Vectors
from malmoi.vocabulary import Vocabulary

MatrixKind = Literal["tf-idf", "ppmi"]
BLOCK_VECTORS = 16  # vectors that are multiplied at a time
TOLERANCE = 2e-4  # of the largest singular value; the error is far below the last change
ZERO_BELOW = 1e-5  # of the largest singular value: smaller ones are 0 but for rounding


@dataclass(frozen=True, kw_only=True)
class LSA:
    """How LSA vectors of `dim` numbers are computed.

    Each dimension is multiplied by its singular value to the `power`: 1 keeps the dot products
    of the matrix's rows, less gives large dimensions less weight (Levy et al. 2015, section 3.3).
    Of TF-IDF, scikit-learn's TruncatedSVD has the words' vectors of power 0 in `components_.T`.
    `window`, `shift`, `smoothing` and `memory_mb` apply to `ppmi` only.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    dim: int = 100
    """Dimensions of a vector."""
    matrix: MatrixKind = "tf-idf"
    """Documents by words, or words by context words."""
    power: float = 0.5
    """Exponent of the singular values that dimensions are multiplied by."""
    window: int = 5
    """PPMI: maximum distance between word and context."""
    shift: float = 1.0
    """PPMI: subtract the logarithm of this."""
    smoothing: float = 0.75
    """PPMI: raise the counts of contexts to this power."""
    memory_mb: float = 2048
    """PPMI: memory for counting, in megabytes."""
    min_count: int = 5
    """Ignore words with fewer occurrences."""
    max_vocab_size: int | None = None
    """Keep at most so many of the most frequent words."""
    seed: int = 1
    """Same seed: same vectors."""

    def __post_init__(self) -> None:
        check_numbers(self)
        if self.dim < 1:
            raise InvalidArgumentError(f"dim is {self.dim}: it must be at least 1")
        if self.matrix not in get_args(MatrixKind):
            raise InvalidArgumentError(f"matrix must be one of tf-idf, ppmi; got '{self.matrix}'")
        if not isfinite(self.power):
            raise InvalidArgumentError(f"power is {self.power}: it must be a number, such as 0.5")
        if self.seed < 0:
            raise InvalidArgumentError(f"seed is {self.seed}: it must be at least 0")
        _ = self.counting, self.pmi, self.vocabulary  # check their own settings

    @property
    def counting(self) -> Cooccurrence:
        """How co-occurrences are counted."""
        return Cooccurrence(window=self.window, memory_mb=self.memory_mb)

    @property
    def pmi(self) -> PMI:
        """The variant of PMI."""
        return PMI(shift=self.shift, smoothing=self.smoothing)

    @property
    def vocabulary(self) -> VocabularySettings:
        """Which words of a text have vectors."""
        return VocabularySettings(min_count=self.min_count, max_vocab_size=self.max_vocab_size)


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A matrix by rows: columns and values of row i from `starts[i]` to `starts[i + 1]`."""

    starts: Int64Array
    columns: UInt32Array
    values: Float32Array
    width: int

    def multiply_gram(self, dense: Float32Array) -> tuple[Float32Array, Float32Array]:
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
    text: TextInput,
    settings: LSA | None = None,
    *,
    tokenizer: Tokenizer | str | None = None,
    folder: FolderPath = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Vectors:
    """Compute word vectors by a truncated SVD of TF-IDF or PPMI (latent semantic analysis).

    Args:
        text: Path of a file or folder; documents as strings or as lists of tokens, in a list, a
            generator, a Series or an array; a `Corpus` or an `EncodedCorpus`.
        settings: The matrix and its decomposition; the defaults of `LSA` if not given.
        tokenizer: A tokenizer or its name, such as "korean"; splits at white space if not given.
        folder: PPMI: folder for temporary files.
        reporter: Receives progress and warnings.

    Returns:
        One vector per word, most frequent words first.

    Raises:
        InvalidArgumentError: `dim` is larger than the matrix, or the memory is too small.
        InvalidFileError: The text cannot be read.
    """
    expect_reporter(reporter)
    settings = settings_or_default(settings, LSA)
    corpus = encode_text(text, settings.vocabulary, tokenizer, reporter)
    vocabulary = corpus.vocabulary
    if settings.matrix == "tf-idf":
        matrix = tf_idf(corpus.ids, vocabulary)
    else:
        counts = count_cooccurrences(corpus, settings.counting, folder=folder, reporter=reporter)
        ppmi = mutual_information(counts, settings.pmi, folder=folder, reporter=reporter)
        matrix = SparseMatrix(ppmi.starts, ppmi.columns, ppmi.values, len(vocabulary))
    max_dim = min(len(matrix.starts) - 1, matrix.width)
    if settings.dim > max_dim:
        raise InvalidArgumentError(
            f"dim is {settings.dim}: a matrix of {len(matrix.starts) - 1:,} ×"
            f" {matrix.width:,} has at most {max_dim:,} dimensions"
        )
    progress = reporter.stage("training")
    right = right_vectors(matrix, settings.dim, settings.seed, progress)
    # Each column of the product is a left singular vector times its singular value.
    product, _ = matrix.multiply_gram(right)
    values = np.sqrt(np.einsum("ij,ij->j", product, product, dtype=np.float64))
    is_nonzero = values > ZERO_BELOW * values.max(initial=0)
    units = right if settings.matrix == "tf-idf" else product / np.where(is_nonzero, values, 1)
    largest = units[np.abs(units).argmax(axis=0), np.arange(settings.dim)]
    scales = np.power(values, settings.power, out=np.zeros_like(values), where=is_nonzero)
    scales[largest < 0] *= -1  # fixes the sign of each dimension
    meta = {"method": "lsa", "matrix": settings.matrix, "tokenizer": corpus.tokenizer}
    return Vectors(vocabulary.words, units * scales, vocabulary.counts, meta)


def tf_idf(ids: UInt32Array, vocabulary: Vocabulary) -> SparseMatrix:
    """Lines × words: tf · (log((1 + lines) / (1 + lines with the word)) + 1), rows of length 1."""
    counts = count_words(ids, vocabulary)
    lines = counts[-1] + (len(ids) > 0 and ids[-1] != LINE_END)
    tokens = counts[:-2].sum()
    columns, values = np.empty(tokens, dtype=np.uint32), np.empty(tokens, dtype=np.float32)
    starts = np.zeros(lines + 1, dtype=np.int64)
    count_documents(np.asarray(ids), len(vocabulary), columns, values, starts)
    columns, values = columns[: starts[-1]], values[: starts[-1]]
    lines_with = np.bincount(columns, minlength=len(vocabulary))
    values *= (np.log((1 + lines) / (1 + lines_with)) + 1).astype(np.float32)[columns]
    rows = np.repeat(np.arange(lines), np.diff(starts))
    lengths = np.sqrt(np.bincount(rows, values**2, lines)).astype(np.float32)
    values /= lengths[rows]
    return SparseMatrix(starts, columns, values, len(vocabulary))


def right_vectors(matrix: SparseMatrix, dim: int, seed: int, progress: Progress) -> Float32Array:
    """The right singular vectors [width, dim] of the largest singular values.

    Block Lanczos with thick restart: the basis grows by what Aᵀ · A adds to its last block; a
    full basis is reduced to its best directions and grows again, until the values converge.
    """
    full, restart = 2 * dim + 3 * BLOCK_VECTORS, dim + BLOCK_VECTORS
    if matrix.width <= full:
        identity = np.eye(matrix.width, dtype=np.float32)
        return best_directions(identity, matrix.multiply_gram(identity)[1], dim)[1]
    basis = np.empty((matrix.width, full), dtype=np.float32)
    size, gram = 0, np.empty((0, 0), dtype=np.float32)  # gram is basisᵀ · Aᵀ · A · basis
    start = np.random.default_rng(seed).standard_normal(
        (matrix.width, BLOCK_VECTORS), dtype=np.float32
    )
    block = orthogonal(start, basis[:, :0])
    values = np.zeros(restart, dtype=np.float32)
    expected = (full + 2 * (full - restart)) // BLOCK_VECTORS
    for step in range(1, 10 * expected):
        _, image = matrix.multiply_gram(block)
        basis[:, size : size + BLOCK_VECTORS] = block
        size += BLOCK_VECTORS
        border = basis[:, :size].T @ image
        gram = np.hstack([np.vstack([gram, border[:-BLOCK_VECTORS].T]), border])
        block = orthogonal(image, basis[:, :size])
        progress(step, max(step, expected))
        if size + BLOCK_VECTORS > full:
            before = values
            values, basis[:, :restart] = best_directions(basis[:, :size], gram, restart)
            size, gram = restart, np.diag(values**2)
            if np.abs(values[:dim] - before[:dim]).max() <= TOLERANCE * values[0]:
                break
    return np.ascontiguousarray(basis[:, :dim])


def best_directions(
    basis: Float32Array, gram: Float32Array, count: int
) -> tuple[Float32Array, Float32Array]:
    """The largest singular values within a basis, and their vectors."""
    squares, directions = np.linalg.eigh(gram.astype(np.float64))
    largest = slice(-1, -count - 1, -1)
    values = np.sqrt(np.maximum(squares[largest], 0)).astype(np.float32)
    return values, basis @ directions[:, largest].astype(np.float32)


def orthogonal(block: Float32Array, basis: Float32Array) -> Float32Array:
    """The part of a block outside a basis, orthonormal; repeated because of rounding errors."""
    for _ in range(3):
        block = block - basis @ (basis.T @ block)
        squares, directions = np.linalg.eigh((block.T @ block).astype(np.float64))
        lengths = np.sqrt(np.maximum(squares, 1e-6 * squares[-1] + 1e-30))
        block = block @ (directions / lengths).astype(np.float32)
    return block
