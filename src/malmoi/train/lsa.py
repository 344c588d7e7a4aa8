"""Latent semantic analysis: word vectors from a truncated SVD of a sparse matrix.

The matrix is documents × words, weighted by TF-IDF as scikit-learn has it (smoothed idf, rows of
length 1; a document is a line), or words × contexts of positive pointwise mutual information.
"""

from dataclasses import dataclass
from math import isfinite
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from malmoi.errors import BadSetting
from malmoi.files.progress import Progress, silent
from malmoi.kernels.compiled import in_parallel
from malmoi.kernels.cooccurrence import count_documents, multiply, multiply_transposed
from malmoi.kernels.text_rows import Places
from malmoi.kernels.words import LINE_END, Ids
from malmoi.train.cooccurrence import Cooccurrence, Folder, count_cooccurrences, count_words
from malmoi.train.information import PMI, mutual_information
from malmoi.vectors import Matrix, Vectors
from malmoi.vocabulary import Vocabulary

Kind = Literal["tf-idf", "ppmi"]
WIDTH = 32  # vectors that are multiplied at a time
SPARE = 2.5  # size of the search space, in dimensions asked for


@dataclass(frozen=True, kw_only=True)
class LSA:
    """How words become vectors of `dim` numbers.

    Each dimension is multiplied by its singular value to the `power`: 1 keeps the dot products
    of the matrix's rows, less makes large dimensions count less (Levy et al. 2015, section 3.3).
    `window`, `shift` and `smoothing` are for `ppmi` alone, and so is `memory_mb`.
    """

    dim: int = 100
    matrix: Kind = "tf-idf"
    power: float = 0.5
    window: int = 5
    shift: float = 1.0
    smoothing: float = 0.75
    memory_mb: float = 2048
    seed: int = 1

    def __post_init__(self) -> None:
        if self.dim < 1:
            raise BadSetting(f"dim is {self.dim}: a vector has at least 1 number")
        if self.matrix not in get_args(Kind):
            raise BadSetting(f"'{self.matrix}' is no matrix: choose tf-idf or ppmi")
        if not isfinite(self.power):
            raise BadSetting(f"power is {self.power}: give a number, such as 0, 0.5 or 1")
        if self.seed < 0:
            raise BadSetting(f"seed is {self.seed}: it is at least 0")
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

    starts: Places
    columns: Ids
    values: Matrix
    width: int

    def times(self, dense: Matrix) -> Matrix:
        """This matrix · dense."""
        out = np.empty((len(self.starts) - 1, dense.shape[1]), dtype=np.float32)
        in_parallel(
            lambda first, last: multiply(
                self.starts, self.columns, self.values, dense, out, first, last
            ),
            len(out),
        )
        return out

    def transposed_times(self, dense: Matrix) -> Matrix:
        """This matrix, transposed, · dense."""
        out = np.empty((self.width, dense.shape[1]), dtype=np.float32)
        in_parallel(
            lambda first, last: multiply_transposed(
                self.starts, self.columns, self.values, dense, out, first, last
            ),
            out.shape[1],
        )
        return out
