"""One-hot vectors: one row per token, with a single 1 in the column of its word."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int64Array
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.text.tokenizers import Tokenizer
from malmoi.train.common.inputs import TextInput, encode_text


@dataclass(frozen=True, eq=False, repr=False)
class OneHot:
    """A sparse matrix with one row per token; `index` maps words to columns.

    The 1 of row i, if it has one, is `columns` and `values` from `starts[i]` to
    `starts[i + 1]`: SciPy accepts `csr_array((values, columns, starts), shape)`.
    """

    index: dict[str, int]
    starts: Int64Array
    columns: npt.NDArray[np.int32]
    values: Float32Array

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of tokens and of words."""
        return len(self.starts) - 1, len(self.index)

    def dense(self) -> Float32Array:
        """The whole matrix [tokens, words] with its zeros; for few tokens."""
        table = np.zeros(self.shape, dtype=np.float32)
        rows = np.repeat(np.arange(len(table)), np.diff(self.starts))
        table[rows, self.columns] = self.values
        return table

    def __repr__(self) -> str:
        return f"OneHot({self.shape[0]:,} × {self.shape[1]:,})"


def one_hot(text: TextInput, *, tokenizer: Tokenizer | str | None = None) -> OneHot:
    """One-hot vectors of the tokens of a text.

    Args:
        text: Path of a file or folder; documents as strings or as lists of tokens, in a list, a
            generator, a Series or an array; a `Corpus` or an `EncodedCorpus`.
        tokenizer: A tokenizer or its name, such as "korean"; splits at white space if not given.

    Returns:
        One row per token; words outside the vocabulary of an `EncodedCorpus` are rows of zeros.

    Raises:
        InvalidFileError: The text cannot be read.

    Example:
        encoded = mm.one_hot(["the bank vault"])
    """
    corpus = encode_text(text, None, tokenizer)
    tokens = corpus.ids[corpus.ids != LINE_END]
    known = tokens != UNKNOWN
    columns = tokens[known].astype(np.int32)
    starts = np.zeros(len(tokens) + 1, dtype=np.int64)
    np.cumsum(known, out=starts[1:])
    ones = np.ones(len(columns), dtype=np.float32)
    return OneHot(corpus.vocabulary.word_index(start=0), starts, columns, ones)
