"""Vectors: words and a row of numbers for each; the value that everyone exchanges.

Look-up and slicing only. Knows nothing of files, queries or training.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int64Array
from malmoi.deferred import Deferred
from malmoi.errors import InvalidArgumentError, UnknownWordError
from malmoi.keys import Keys, is_encodable
from malmoi.unicode import Form, normalize

Selection = slice | npt.NDArray[np.integer]
Float = TypeVar("Float", bound=np.floating[Any])

# Squares of single precision between these neither underflow nor overflow.
LEAST_SQUARE, MOST_SQUARE = 1e-30, 1e38


@dataclass(frozen=True, eq=False, repr=False)
class Vectors(Deferred):
    """`keys[i]` is the word of `matrix[i]`; rows stand in order of frequency.

    `keys` may be given as any iterable of strings and `matrix` as anything NumPy can
    turn into float32 [n, dim]. `counts`, where known, says how often each word was seen.
    `context_matrix`, where known, holds the output vectors of the network (one row per word),
    so that training can continue.
    """

    keys: Keys
    matrix: Float32Array
    # None by way of a factory: a default on the class would hide what is deferred.
    counts: Int64Array | None = field(default_factory=lambda: None)
    meta: Mapping[str, str] = field(default_factory=dict)
    context_matrix: Float32Array | None = field(default_factory=lambda: None)

    if TYPE_CHECKING:

        def __init__(
            self,
            keys: Iterable[str],
            matrix: npt.ArrayLike,
            counts: npt.ArrayLike | None = None,
            meta: Mapping[str, str] = ...,
            context_matrix: Float32Array | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.keys, Keys):
            object.__setattr__(self, "keys", Keys.of(self.keys))
        object.__setattr__(self, "matrix", as_matrix(self.matrix))
        if len(self.keys) != len(self.matrix):
            raise InvalidArgumentError(
                f"{len(self.keys)} keys for {len(self.matrix)} rows of the matrix"
            )
        if self.counts is not None:
            object.__setattr__(self, "counts", np.asarray(self.counts, dtype=np.int64))
            if self.counts.shape != (len(self.keys),):
                shape = " × ".join(map(str, self.counts.shape)) or "one number"
                raise InvalidArgumentError(f"{shape} counts for {len(self.keys)} keys")

    @cached_property
    def dim(self) -> int:
        """How many numbers a word has."""
        return int(self.matrix.shape[1])

    @cached_property
    def norms(self) -> Float32Array:
        """The Euclidean length of every row."""
        stored = self.stored("norms")
        return row_norms(self.matrix) if stored is None else stored

    @cached_property
    def immeasurable(self) -> int:
        """The first row whose length is not finite in single precision; or -1."""
        found = np.flatnonzero(~np.isfinite(self.norms))
        return int(found[0]) if len(found) else -1

    def row(self, word: str) -> int:
        """The row of a word, or -1; the other Unicode form of it is tried too."""
        row = self.keys.find(word)
        if row < 0 and not word.isascii():
            forms: tuple[Form, ...] = ("NFC", "NFD")
            for form in forms:
                row = max(row, self.keys.find(normalize(form, word)))
        return row

    def vector(self, word: str) -> Float32Array:
        """The vector of a word; `UnknownWordError` if there is none."""
        row = self.row(word)
        if row < 0:
            raise UnknownWordError(word)
        return self.rows_of("matrix", row)

    def meant(self, word: str) -> Float32Array:
        """The vector of what is meant by a word in a question: here, the word's."""
        return self.vector(word)

    def take(self, rows: Selection) -> Self:
        """The words of these rows, in this order."""
        return replace(self, **self._taken(rows))

    def most_frequent(self, count: int) -> Self:
        """The words seen most often (the first ones, where nobody counted)."""
        if count < 1:
            raise InvalidArgumentError(f"most_frequent is {count}: leave at least one word")
        if self.counts is None or np.all(self.counts[:-1] >= self.counts[1:]):
            return self.take(slice(count))
        return self.take(np.argsort(-self.counts, kind="stable")[:count])

    def with_meta(self, **entries: str) -> Self:
        """The same vectors with more said about them."""
        return replace(self, meta={**self.meta, **entries})

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and is_encodable(word) and self.row(word) >= 0

    @overload
    def __getitem__(self, asked: str) -> Float32Array: ...
    @overload
    def __getitem__(self, asked: slice) -> Self: ...
    @overload
    def __getitem__(self, asked: Iterable[str]) -> Float32Array: ...
    def __getitem__(self, asked: str | slice | Iterable[str]) -> Float32Array | Self:
        if isinstance(asked, str):
            return self.vector(asked)
        if isinstance(asked, slice):
            return self.take(asked)
        if not isinstance(asked, Iterable):
            raise InvalidArgumentError(
                f"{asked!r} is no word: rows by their numbers are vectors.matrix[{asked!r}]"
            )
        found = [self.vector(word) for word in asked]
        return np.stack(found) if found else np.empty((0, self.dim), np.float32)

    def _taken(self, rows: Selection) -> dict[str, Any]:
        """The fields that change with the rows."""
        return {
            "keys": self.keys[rows] if isinstance(rows, slice) else self.keys.take(rows),
            "matrix": self.rows_of("matrix", rows),
            "counts": None if self.counts is None else self.counts[rows],
            "context_matrix": None,  # belongs to the whole vocabulary
        }

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} × {self.dim})"


def as_matrix(numbers: npt.ArrayLike) -> Float32Array:
    """float32 [n, dim], copied only where it is not so already."""
    try:
        matrix = np.asarray(numbers)
    except ValueError as error:
        raise InvalidArgumentError(f"these numbers are no matrix: {error}") from error
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise InvalidArgumentError(
            f"a matrix of numbers has two dimensions, not shape {matrix.shape} of {matrix.dtype}"
        )
    with np.errstate(over="ignore"):  # what is too large becomes inf, for others to find
        return np.ascontiguousarray(matrix, dtype=np.float32)


def row_norms(rows: Float32Array) -> Float32Array:
    """The Euclidean length of every row, [n, dim] to [n], for numbers of any magnitude."""
    squares = np.einsum("ij,ij->i", rows, rows)
    extreme = np.flatnonzero(_is_extreme(squares))
    norms: Float32Array = np.sqrt(squares)
    with np.errstate(over="ignore"):  # a length beyond single precision is inf
        norms[extreme] = np.linalg.norm(rows[extreme].astype(np.float64), axis=1)
    return norms


def l2_normalize(rows: npt.NDArray[Float]) -> npt.NDArray[Float]:
    """Rows of length one, [n, dim] or a single [dim], of any magnitude; zero stays zero.

    Single precision is enough for nearly all rows; those whose squares it cannot hold are
    divided in double precision.
    """
    if rows.ndim == 1:
        wide = rows.astype(np.float64)
        length = sqrt(wide @ wide)
        single: npt.NDArray[Float] = (wide / length if length else wide).astype(rows.dtype)
        return single
    squares = np.einsum("ij,ij->i", rows, rows)
    extreme = np.flatnonzero(_is_extreme(squares))
    squares[extreme] = 1
    scaled: npt.NDArray[Float] = rows / np.sqrt(squares)[:, np.newaxis]
    if len(extreme):
        wide = rows[extreme].astype(np.float64)
        lengths = np.linalg.norm(wide, axis=1, keepdims=True)
        scaled[extreme] = wide / np.where(lengths == 0, 1, lengths)
    return scaled


def _is_extreme(squares: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which sums of squares single precision may have lost; zero, nan and inf among them."""
    found: npt.NDArray[np.bool_] = ~((squares > LEAST_SQUARE) & (squares < MOST_SQUARE))
    return found
