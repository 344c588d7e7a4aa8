"""One-hot: a word is a row with a single 1, in the column that is its number."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int64Array, UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False, repr=False)
class OneHot:
    """`index` is word to column; the matrix is sparse, a row for each token.

    The 1 of row i, if it has one, is `columns` and `values` from `starts[i]` to
    `starts[i + 1]`: what SciPy takes as `csr_array((values, columns, starts), shape)`.
    """

    index: dict[str, int]
    starts: Int64Array
    columns: npt.NDArray[np.int32]
    values: Float32Array

    @property
    def shape(self) -> tuple[int, int]:
        """Tokens and words."""
        return len(self.starts) - 1, len(self.index)

    def dense(self) -> Float32Array:
        """All of it with its zeros; for few tokens."""
        table = np.zeros(self.shape, dtype=np.float32)
        rows = np.repeat(np.arange(len(table)), np.diff(self.starts))
        table[rows, self.columns] = self.values
        return table

    def __repr__(self) -> str:
        return f"OneHot({self.shape[0]:,} × {self.shape[1]:,})"


def one_hot(ids: UInt32Array, vocabulary: Vocabulary) -> OneHot:
    """The tokens of a stream of ids; a word outside the vocabulary is a row of zeros."""
    tokens = ids[ids != LINE_END]
    known = tokens != UNKNOWN
    if np.any(tokens[known] >= len(vocabulary)):
        raise InvalidArgumentError(
            f"id {tokens[known].max()} is none of the vocabulary's {len(vocabulary):,}:"
            " encode the text with this vocabulary"
        )
    columns = tokens[known].astype(np.int32)
    starts = np.zeros(len(tokens) + 1, dtype=np.int64)
    np.cumsum(known, out=starts[1:])
    ones = np.ones(len(columns), dtype=np.float32)
    return OneHot(vocabulary.word_index(start=0), starts, columns, ones)
