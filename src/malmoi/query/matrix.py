"""Embedding matrices: the rows that a Keras or PyTorch embedding layer starts from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError, UnknownWordError
from malmoi.vectors import Vectors
from malmoi.vocabulary import Vocabulary

UNKNOWN_NAMES = ("<unk>", "[UNK]", "<UNK>", "UNK", "<oov>", "<OOV>", "[OOV]")
PADDING_NAMES = ("<pad>", "[PAD]", "<PAD>", "PAD", "")
RAREST = 100  # words whose mean stands for all unknown ones, as in GloVe
Missing = Literal["unknown", "zeros", "random"]


@dataclass(frozen=True)
class MatrixReport:
    """Where the rows of an embedding matrix came from."""

    found: tuple[str, ...]
    from_subwords: tuple[str, ...]
    missing: tuple[str, ...]
    padding: int | None
    unknown: int | None

    def __str__(self) -> str:
        shown = ", ".join(self.missing[:10]) + (", …" if len(self.missing) > 10 else "")
        return (
            f"{len(self.found):,} found, {len(self.from_subwords):,} from subwords,"
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
    """A row for each number in `word_index`, which is taken as it is.

    Row `padding` is zeros. A word of the index that means "unknown" (`<unk>`, `[UNK]`,
    `<OOV>` …), or row 1 where the index begins at 2, gets the vectors' own unknown row or
    the mean of the 100 rarest words. Words without a vector are built from subwords where
    the vectors can, else filled like unknown ones, with zeros, or at random.
    """
    if len(vectors) == 0:
        raise InvalidArgumentError("there are no vectors to fill a matrix with")
    index = word_index.word_index() if isinstance(word_index, Vocabulary) else dict(word_index)
    _check(index, padding)
    if missing not in ("unknown", "zeros", "random"):
        raise InvalidArgumentError(
            f"'{missing}' is no way to fill rows: choose unknown, zeros or random"
        )
    matrix = np.zeros((max(index.values(), default=0) + 1, vectors.dim), dtype=np.float32)
    unknown = unknown_vector(vectors)
    chance = np.random.default_rng(seed)
    spread = float(vectors.matrix[:10_000].std())
    found: list[str] = []
    built: list[str] = []
    lost: list[str] = []
    unknown_row = _unknown_row(index, padding)
    if unknown_row is not None:
        matrix[unknown_row] = unknown
    for word, row in index.items():
        if row in (padding, unknown_row):
            continue
        try:
            matrix[row] = vectors.vector(word)
            (found if word in vectors else built).append(word)
        except UnknownWordError:
            lost.append(word)
            if missing == "random":
                matrix[row] = chance.normal(0, spread, vectors.dim)
            elif missing == "unknown":
                matrix[row] = unknown
    report = MatrixReport(tuple(found), tuple(built), tuple(lost), padding, unknown_row)
    return EmbeddingMatrix(matrix, report)


def unknown_vector(vectors: Vectors) -> Float32Array:
    """The vectors' own row for unknown words, or the mean of the rarest ones."""
    for name in UNKNOWN_NAMES:
        row = vectors.keys.find(name)
        if row >= 0:
            own: Float32Array = vectors.matrix[row]
            return own
    mean: Float32Array = vectors.matrix[-RAREST:].mean(axis=0)
    return mean


def _unknown_row(index: Mapping[str, int], padding: int | None) -> int | None:
    for name in UNKNOWN_NAMES:
        if name in index and index[name] != padding:
            return index[name]
    return 1 if index and min(index.values()) == 2 else None


def _check(index: Mapping[str, int], padding: int | None) -> None:
    rows: dict[int, str] = {}
    for word, row in index.items():
        if not isinstance(row, int | np.integer) or row < 0:
            raise InvalidArgumentError(f"'{word}' has the number {row!r}: numbers count from 0")
        if row == padding and word not in PADDING_NAMES:
            raise InvalidArgumentError(
                f"'{word}' has number {row}, which is the padding row: number words from 1, or"
                " pass padding=None"
            )
        if rows.setdefault(int(row), word) != word:
            raise InvalidArgumentError(f"'{rows[int(row)]}' and '{word}' both have number {row}")
