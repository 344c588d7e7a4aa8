"""FastTextKeyedVectors: KeyedVectors that also answer words never seen, from their n-grams."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.compat.gensim.vectors.keyed_vectors import KeyedVectors
from malmoi.errors import InvalidArgumentError, UnknownWordError, warn
from malmoi.keys import Keys
from malmoi.subwords import Subwords, SubwordVectors
from malmoi.vectors import Vectors, l2_normalize


class FastTextKeyedVectors(KeyedVectors):
    """Words and their vectors, with the rows of the n-grams of `min_n` to `max_n` characters.

    Only n-grams of known words have a row, where gensim has random rows for the others: a word
    none of whose n-grams is known has the vector zero, with a warning.
    """

    compatible_hash = True  # n-grams are hashed as in fastText

    def __init__(
        self,
        vector_size: int,
        min_n: int = 3,
        max_n: int = 6,
        bucket: int = 2_000_000,
        count: int = 0,
        dtype: npt.DTypeLike = np.float32,
    ) -> None:
        self.min_n, self.max_n, self.bucket = min_n, max_n, bucket
        self.vectors_vocab_lockf = self.vectors_ngrams_lockf = np.ones(1, np.float32)
        self.word_rows: Float32Array = np.zeros((0, vector_size), np.float32)
        self.bucket_rows: Float32Array = np.zeros((0, vector_size), np.float32)
        self.kept_buckets: npt.NDArray[np.int32] | None = np.zeros(0, np.int32)
        super().__init__(vector_size, count, dtype)

    @classmethod
    def of(cls, vectors: Vectors) -> Self:
        """FastTextKeyedVectors with a copy of these vectors, which must have n-grams."""
        if not isinstance(vectors, SubwordVectors):
            raise InvalidArgumentError("these vectors have no n-grams: use KeyedVectors")
        subwords = vectors.subwords
        made = cls(vectors.dim, subwords.min_n, subwords.max_n, subwords.buckets)
        made.adopt(vectors)
        return made

    def adopt(self, vectors: SubwordVectors) -> None:
        """Replace all words and rows."""
        self.set_words(list(vectors.keys), vectors.counts)
        self.word_rows = np.array(vectors.word_rows)
        self.bucket_rows = np.asarray(vectors.bucket_rows)
        self.kept_buckets = vectors.kept_buckets
        self.encoding = vectors.subwords.encoding
        self.vectors = np.array(vectors.matrix)

    encoding = "utf-8"  # of the text that the n-grams were hashed from

    @property
    def subwords(self) -> Subwords:
        """How words are split into n-grams."""
        has_ngrams = self.bucket > 0 and 0 < self.min_n <= self.max_n
        return Subwords(
            min_n=self.min_n if has_ngrams else 1,
            max_n=self.max_n if has_ngrams else 0,
            buckets=max(1, self.bucket),
            encoding=self.encoding,
        )

    def make_vectors(self) -> SubwordVectors:
        """Make what `as_vectors` returns."""
        added = self.vectors[len(self.word_rows) :].astype(np.float32)
        self.word_rows = np.concatenate([self.word_rows, added])
        return SubwordVectors(
            Keys.of(self.index_to_key),
            self.vectors,
            self.expandos.get("count"),
            word_rows=self.word_rows,
            bucket_rows=self.bucket_rows,
            subwords=self.subwords,
            kept_buckets=self.kept_buckets,
        )

    @property
    def vectors_vocab(self) -> Float32Array:
        """The words' own rows, without their n-grams."""
        return self.word_rows

    @property
    def vectors_ngrams(self) -> Float32Array:
        """One row per bucket, zeros where no known word has the n-gram; a copy."""
        if self.kept_buckets is None:
            return self.bucket_rows
        rows = np.zeros((self.bucket, self.vector_size), np.float32)
        if self.bucket:
            rows[self.kept_buckets] = self.bucket_rows
        return rows

    def adjust_vectors(self) -> None:
        """Nothing to do: malmoi's vectors are always those of their n-grams."""

    def __contains__(self, key: object) -> bool:
        return self.has_index_for(key) or (isinstance(key, str) and self.subwords.max_n > 0)

    def get_vector(self, key: str | int, norm: bool = False) -> npt.NDArray[Any]:
        """The vector of a word, by its n-grams if it has no row."""
        try:
            return super().get_vector(key, norm)
        except UnknownWordError:
            if not isinstance(key, str) or key not in self:
                raise
        try:
            vector = self.as_vectors().vector(key)
        except UnknownWordError:
            warn(f"no n-gram of '{key}' is known: its vector is zero")
            return np.zeros(self.vector_size, np.float32)
        return l2_normalize(vector) if norm else vector
