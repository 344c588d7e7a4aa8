"""Embedding matrices: the initial weights of a Keras or PyTorch embedding layer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from malmoi.arguments import expect
from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError, UnknownWordError
from malmoi.vectors import Vectors, expect_vectors
from malmoi.vocabulary import Vocabulary

UNKNOWN_NAMES = ("<unk>", "[UNK]", "<UNK>", "UNK", "<oov>", "<OOV>", "[OOV]")
PADDING_NAMES = ("<pad>", "[PAD]", "<PAD>", "PAD", "")
RAREST_WORDS = 100  # their mean stands for all unknown words, as in GloVe
SPREAD_ROWS = 10_000  # first rows, whose spread random rows get
Missing = Literal["unknown", "zeros", "random"]


@dataclass(frozen=True, repr=False)
class MatrixReport:
    """Where the rows of an embedding matrix come from, by word.

    `padding` and `unknown` are the rows of the padding and of the unknown word, if any.
    """

    with_row: tuple[str, ...]
    from_subwords: tuple[str, ...]
    missing: tuple[str, ...]
    padding: int | None
    unknown: int | None

    def __repr__(self) -> str:
        return f"MatrixReport({self})"

    def __str__(self) -> str:
        shown = ", ".join(self.missing[:10]) + (", …" if len(self.missing) > 10 else "")
        return (
            f"{len(self.with_row):,} found, {len(self.from_subwords):,} from subwords,"
            f" {len(self.missing):,} missing" + (f" ({shown})" if shown else "")
        )


class EmbeddingMatrix(NamedTuple):
    """float32 [highest index + 1, dim] and how it was filled."""

    matrix: Float32Array
    report: MatrixReport


def embedding_matrix(
    vectors: Vectors,
    word_index: Mapping[str, int] | Vocabulary,
    *,
    padding: int | None = 0,
    missing: Missing = "unknown",
    seed: int = 0,
) -> EmbeddingMatrix:
    """An embedding matrix for the indices of a tokenizer, which are used as they are.

    A word of the index that stands for unknown words (`<unk>`, `[UNK]`, `<OOV>` …), or row 1
    where the index begins at 2, gets the vectors' own unknown row or the mean of the 100 rarest
    words. Words without a row are built from subwords where the vectors can do that.

    Args:
        vectors: Where the rows come from.
        word_index: The index of each word, as Keras' `Tokenizer.word_index`, or a `Vocabulary`.
        padding: The row of zeros for padding; None if there is none.
        missing: How to fill rows of words without a vector: like the "unknown" row, with
            "zeros", or at "random".
        seed: Seed of the random rows.

    Returns:
        The float32 matrix [highest index + 1, dim], and a report of how each row was filled.

    Raises:
        InvalidArgumentError: The vectors are empty, `missing` is not one of the above, or an
            index is negative, used twice or that of the padding row.
    """
    expect_vectors(vectors)
    expect(word_index, Mapping | Vocabulary, "word_index", "a dictionary from words to indices")
    if len(vectors) == 0:
        raise InvalidArgumentError("there are no vectors to fill the matrix with")
    index = word_index.word_index() if isinstance(word_index, Vocabulary) else dict(word_index)
    _check_index(index, padding)
    if missing not in ("unknown", "zeros", "random"):
        raise InvalidArgumentError(f"missing must be unknown, zeros or random; got '{missing}'")
    matrix = np.zeros((max(index.values(), default=0) + 1, vectors.dim), dtype=np.float32)
    unknown = unknown_vector(vectors)
    random = np.random.default_rng(seed)
    spread = float(vectors.matrix[:SPREAD_ROWS].std())
    with_row: list[str] = []
    built: list[str] = []
    without: list[str] = []
    unknown_row = _unknown_row(index, padding)
    if unknown_row is not None:
        matrix[unknown_row] = unknown
    for word, row in index.items():
        if row in (padding, unknown_row):
            continue
        try:
            matrix[row] = vectors.vector(word)
            (with_row if word in vectors else built).append(word)
        except UnknownWordError:
            without.append(word)
            if missing == "random":
                matrix[row] = random.normal(0, spread, vectors.dim)
            elif missing == "unknown":
                matrix[row] = unknown
    report = MatrixReport(tuple(with_row), tuple(built), tuple(without), padding, unknown_row)
    return EmbeddingMatrix(matrix, report)


def unknown_vector(vectors: Vectors) -> Float32Array:
    """The vectors' own row for unknown words, or the mean of the rarest ones."""
    for name in UNKNOWN_NAMES:
        row = vectors.keys.find(name)
        if row >= 0:
            own: Float32Array = vectors.matrix[row]
            return own
    mean: Float32Array = vectors.matrix[-RAREST_WORDS:].mean(axis=0)
    return mean


def _unknown_row(index: Mapping[str, int], padding: int | None) -> int | None:
    for name in UNKNOWN_NAMES:
        if name in index and index[name] != padding:
            return index[name]
    return 1 if index and min(index.values()) == 2 else None


def _check_index(index: Mapping[str, int], padding: int | None) -> None:
    rows: dict[int, str] = {}
    for word, row in index.items():
        if not isinstance(row, int | np.integer) or row < 0:
            raise InvalidArgumentError(
                f"the index of '{word}' is {row!r}: it must be an integer from 0"
            )
        if row == padding and word not in PADDING_NAMES:
            raise InvalidArgumentError(
                f"the index of '{word}' is {row}, which is the padding row: start at 1, or pass"
                " padding=None"
            )
        if rows.setdefault(int(row), word) != word:
            raise InvalidArgumentError(f"'{rows[int(row)]}' and '{word}' have the same index {row}")
