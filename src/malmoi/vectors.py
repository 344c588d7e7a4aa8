"""Vectors: words and one vector per word; the value that all packages exchange.

Look-up and slicing only; `VectorMethods` adds queries. Knows nothing about files or training.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import sqrt
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from malmoi.arguments import expect, expect_integer, is_encoder
from malmoi.arrays import BoolArray, Float32Array, Int64Array
from malmoi.arrow_tables import as_table, from_table
from malmoi.deferred import Deferred
from malmoi.errors import InvalidArgumentError, UnknownWordError
from malmoi.keys import Keys, is_encodable
from malmoi.table import HEAD, Table, TableCell, Tabular
from malmoi.unicode import Form, normalize
from malmoi.vector_methods import VectorMethods

Selection = slice | npt.NDArray[np.integer]
Float = TypeVar("Float", bound=np.floating[Any])

# Sums of squares in single precision between these neither underflow nor overflow.
MIN_SAFE_SQUARE, MAX_SAFE_SQUARE = 1e-30, 1e38
SHOWN_NUMBERS = 5  # of each vector in a notebook


@dataclass(frozen=True, eq=False, repr=False)
class Vectors(VectorMethods, Deferred, Tabular):
    """Words with their vectors, most frequent word first. Immutable.

    `vectors["word"]` is a word's vector, `vectors[["a", "b"]]` a matrix, `vectors[:1000]` the
    first 1,000 words. `len`, `in` and iteration are over the words. Methods such as `most_similar`
    are those of gensim's KeyedVectors.

    Args:
        keys: The words; any iterable of strings.
        matrix: One row per word: anything that NumPy converts to float32 [n, dim].
        counts: How often each word occurs in the training text, if known; [n].
        meta: Notes about the vectors, such as the name of the model, as strings.
        context_matrix: The output layer of the network, if known, so that training can resume.
        stored_norms: The length of each row, if it is known already; [n].

    Raises:
        InvalidArgumentError: The arguments do not fit each other, or `matrix` is not a matrix.
    """

    keys: Keys
    matrix: Float32Array
    # None comes from a factory: a default on the class would hide a deferred array.
    counts: Int64Array | None = field(default_factory=lambda: None)
    meta: Mapping[str, str] = field(default_factory=dict)
    context_matrix: Float32Array | None = field(default_factory=lambda: None)
    stored_norms: Float32Array | None = field(default_factory=lambda: None)
    dim: int = field(init=False)

    if TYPE_CHECKING:

        def __init__(
            self,
            keys: Iterable[str],
            matrix: npt.ArrayLike,
            counts: npt.ArrayLike | None = None,
            meta: Mapping[str, str] = ...,
            context_matrix: Float32Array | None = None,
            stored_norms: Float32Array | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.keys, Keys):
            expect(self.keys, Iterable, "keys", "a list of words")
            object.__setattr__(self, "keys", Keys.of(self.keys))
        object.__setattr__(self, "matrix", as_matrix(self.matrix))
        object.__setattr__(self, "dim", int(self.matrix.shape[1]))
        if len(self.keys) != len(self.matrix):
            raise InvalidArgumentError(
                f"{len(self.keys)} keys for {len(self.matrix)} rows of the matrix"
            )
        if self.counts is not None:
            object.__setattr__(self, "counts", np.asarray(self.counts, dtype=np.int64))
            if self.counts.shape != (len(self.keys),):
                shape = " × ".join(map(str, self.counts.shape)) or "one number"
                raise InvalidArgumentError(f"{shape} counts for {len(self.keys)} keys")
        if self.stored_norms is not None and self.stored_norms.shape != (len(self.keys),):
            raise InvalidArgumentError(f"{len(self.stored_norms)} norms for {len(self.keys)} keys")

    @cached_property
    def norms(self) -> Float32Array:
        """The Euclidean length of each row, [n]."""
        return row_norms(self.matrix) if self.stored_norms is None else self.stored_norms

    @cached_property
    def first_nonfinite_row(self) -> int:
        """The first row whose length is not finite in single precision; or -1."""
        rows = np.flatnonzero(~np.isfinite(self.norms))
        return int(rows[0]) if len(rows) else -1

    def row(self, word: str) -> int:
        """Find a word, also in its other Unicode form (NFC or NFD).

        Args:
            word: The word.

        Returns:
            The index of its row in `matrix`, or -1 if it has none.
        """
        row = self.keys.find(word)
        if row < 0 and not word.isascii():
            forms: tuple[Form, ...] = ("NFC", "NFD")
            for form in forms:
                row = max(row, self.keys.find(normalize(form, word)))
        return row

    def vector(self, word: str) -> Float32Array:
        """Look up the vector of a word.

        Args:
            word: The word.

        Returns:
            Its row of `matrix`, float32 [dim].

        Raises:
            UnknownWordError: The word has no row.
        """
        row = self.row(word)
        if row < 0:
            raise UnknownWordError(word)
        return self.rows_of("matrix", row)

    def query_vector(self, word: str) -> Float32Array:
        """The vector that a query for a word uses; here, the vector of the word.

        Args:
            word: The word.

        Returns:
            Its row of `matrix`, float32 [dim].

        Raises:
            UnknownWordError: The word has no row.
        """
        return self.vector(word)

    def take(self, rows: Selection) -> Self:
        """Select rows.

        Args:
            rows: A slice, or an array of row indices or booleans, as NumPy takes them.

        Returns:
            Vectors of these rows, in this order.
        """
        return replace(self, **self._taken(rows))

    def most_frequent(self, count: int) -> Self:
        """Select the most frequent words; without counts, the first rows.

        Args:
            count: How many words, at least 1.

        Returns:
            Vectors of at most `count` words, most frequent first.

        Raises:
            InvalidArgumentError: `count` is below 1.
        """
        expect_integer(count, "most_frequent")
        if count < 1:
            raise InvalidArgumentError(f"most_frequent is {count}: it must be at least 1")
        if self.counts is None or np.all(self.counts[:-1] >= self.counts[1:]):
            return self.take(slice(count))
        return self.take(np.argsort(-self.counts, kind="stable")[:count])

    def with_meta(self, **entries: str) -> Self:
        """Add entries to `meta`.

        Args:
            **entries: Strings by name.

        Returns:
            The same vectors with these entries added.
        """
        return replace(self, meta={**self.meta, **entries})

    def to_arrow(self) -> Any:
        """The vectors as a table of Arrow; pandas, Polars and DuckDB also read them as they are.

        `pl.DataFrame(vectors)`, `pd.DataFrame.from_arrow(vectors)` and `FROM vectors` in DuckDB
        need no conversion. N-grams of `SubwordVectors` have no rows.

        Returns:
            A `pyarrow.Table` with the columns key, vector and, if known, count.

        Raises:
            InvalidArgumentError: A word is not UTF-8.
            MissingDependencyError: pyarrow is not installed.
        """
        return as_table(self.keys, self.matrix, self.counts, self.meta)

    @staticmethod
    def from_arrow(table: object, *, key: str = "key", vector: str = "vector") -> "Vectors":
        """Vectors from a table of Arrow, pandas or Polars, or from a query of DuckDB.

        Args:
            table: The table; it may have the counts of words in a column `count`.
            key: The column of words, or of ids.
            vector: The column of vectors, as lists of numbers.

        Returns:
            The vectors.

        Raises:
            InvalidArgumentError: The table lacks a column, or vectors differ in length.
            MissingDependencyError: pyarrow is not installed.
        """
        return Vectors(**from_table(table, key, vector))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and is_encodable(word) and self.row(word) >= 0

    @overload
    def __getitem__(self, key: str) -> Float32Array: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    @overload
    def __getitem__(self, key: Iterable[str]) -> Float32Array: ...
    def __getitem__(self, key: str | slice | Iterable[str]) -> Float32Array | Self:
        if isinstance(key, str):
            return self.vector(key)
        if isinstance(key, slice):
            return self.take(key)
        if not isinstance(key, Iterable):
            raise InvalidArgumentError(
                f"{key!r} is not a word: use vectors.matrix[{key!r}] to select rows by index"
            )
        rows = [self.vector(word) for word in key]
        return np.stack(rows) if rows else np.empty((0, self.dim), np.float32)

    def _taken(self, rows: Selection) -> dict[str, Any]:
        """The fields of the vectors of some rows that differ from these vectors'."""
        return {
            "keys": self.keys[rows] if isinstance(rows, slice) else self.keys.take(rows),
            "matrix": self.rows_of("matrix", rows),
            "counts": None if self.counts is None else self.counts[rows],
            "context_matrix": None,  # belongs to the whole vocabulary
            "stored_norms": None,
        }

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} × {self.dim})"

    def _table(self) -> Table:
        head = self.take(slice(HEAD))
        numbers = head.matrix[:, :SHOWN_NUMBERS].tolist()
        names = ["word", *(f"[{i}]" for i in range(min(self.dim, SHOWN_NUMBERS)))]
        rows: list[list[TableCell]] = [
            [word, *row] for word, row in zip(head.keys, numbers, strict=True)
        ]
        if head.counts is not None:
            names.insert(1, "count")
            for row, count in zip(rows, head.counts.tolist(), strict=True):
                row.insert(1, count)
        title = f"{type(self).__name__}: {len(self):,} words × {self.dim} dimensions"
        return Table(title, names, rows, len(self))


def expect_vectors(value: object, name: str = "vectors") -> None:
    """Raise `InvalidArgumentError` unless a value is `Vectors`; its message has a hint."""
    hint = "make them with Vectors(words, matrix)"
    if isinstance(value, str | PathLike):
        hint = f"load them with load({str(value)!r})"
    elif is_encoder(value):
        hint = "it encodes texts: compare the rows of encoder.encode(texts), or use build_index"
    elif isinstance(getattr(value, "vectors", None), Vectors):
        hint = "pass its vectors"
    expect(value, Vectors, name, "word vectors", hint=hint)


def as_matrix(numbers: npt.ArrayLike) -> Float32Array:
    """Convert numbers to float32 [n, dim]; what is so already is not copied."""
    try:
        matrix = np.asarray(numbers)
    except ValueError as error:
        raise InvalidArgumentError(f"these numbers are not a matrix: {error}") from error
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise InvalidArgumentError(
            f"the matrix has shape {matrix.shape} of {matrix.dtype}: give numbers of shape [n, dim]"
        )
    with np.errstate(over="ignore"):  # too large numbers become inf; callers check for that
        return np.ascontiguousarray(matrix, dtype=np.float32)


def row_norms(rows: Float32Array) -> Float32Array:
    """The Euclidean length of each row, [n, dim] to [n], for numbers of any magnitude."""
    squares = np.einsum("ij,ij->i", rows, rows)
    extreme = np.flatnonzero(_is_extreme(squares))
    norms: Float32Array = np.sqrt(squares)
    with np.errstate(over="ignore"):  # a length beyond single precision is inf
        norms[extreme] = np.linalg.norm(rows[extreme].astype(np.float64), axis=1)
    return norms


def l2_normalize(rows: npt.NDArray[Float]) -> npt.NDArray[Float]:
    """Scale rows to length one, [n, dim] or a single [dim], of any magnitude; zero stays zero.

    Single precision suffices for nearly all rows; rows whose squares overflow or underflow are
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


def _is_extreme(squares: npt.NDArray[Any]) -> BoolArray:
    """Which sums of squares may have lost precision; zero, nan and inf are among them."""
    is_extreme: BoolArray = ~((squares > MIN_SAFE_SQUARE) & (squares < MAX_SAFE_SQUARE))
    return is_extreme
