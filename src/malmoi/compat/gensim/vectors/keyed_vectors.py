"""KeyedVectors: words and vectors that can be changed, as gensim's; `Vectors` answer queries."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt

from malmoi.compat.gensim.vectors.keyed_queries import KeyedQueries
from malmoi.compat.gensim.vectors.word2vec_files import (
    intersect_word2vec_format,
    load_word2vec_format,
    save_word2vec_format,
)
from malmoi.errors import InvalidArgumentError, UnknownWordError, warn
from malmoi.formats import load, save
from malmoi.subwords import SubwordVectors
from malmoi.vectors import Vectors

NewVectors = npt.NDArray[Any] | Sequence[npt.NDArray[Any]]
PICKLE_ARGUMENTS = ("separately", "sep_limit", "ignore", "pickle_protocol", "mmap")


class KeyedVectors(KeyedQueries):
    """Words and their vectors.

    Args:
        vector_size: The number of dimensions.
        count: How many vectors will be added; malmoi does not need to know.
        dtype: The type of the numbers.
        mapfile_path: Unused, as in gensim.
    """

    _snapshot: Vectors | None

    def __init__(
        self,
        vector_size: int,
        count: int = 0,
        dtype: npt.DTypeLike = np.float32,
        mapfile_path: str | None = None,
    ) -> None:
        self.vector_size = vector_size
        self.index_to_key: list[str] = []
        self.key_to_index: dict[str, int] = {}
        self.expandos: dict[str, npt.NDArray[Any]] = {}
        self.vectors_lockf: npt.NDArray[Any] = np.ones(1, np.float32)
        self.mapfile_path = mapfile_path
        self.vectors = np.zeros((0, vector_size), dtype)

    @classmethod
    def of(cls, vectors: Vectors) -> Self:
        """KeyedVectors with a copy of these vectors."""
        made = cls(vectors.dim)
        made.set_words(list(vectors.keys), vectors.counts)
        made.vectors = np.array(vectors.matrix)
        return made

    def as_vectors(self) -> Vectors:
        """The same as `malmoi.Vectors`; shares the numbers until they are replaced."""
        if self._snapshot is None:
            self._snapshot = self.make_vectors()
        return self._snapshot

    def make_vectors(self) -> Vectors:
        """Make what `as_vectors` returns."""
        return Vectors(self.index_to_key, self.vectors, self.expandos.get("count"))

    @property
    def vectors(self) -> npt.NDArray[Any]:
        """One row per word; after changing numbers in place, call `fill_norms(force=True)`."""
        return self._matrix

    @vectors.setter
    def vectors(self, matrix: npt.NDArray[Any]) -> None:
        self._matrix = matrix
        self._snapshot = None

    @property
    def norms(self) -> npt.NDArray[np.float32]:
        """The length of each vector."""
        return self.as_vectors().norms

    def fill_norms(self, force: bool = False) -> None:
        """Compute the lengths again, if vectors were changed in place."""
        if force:
            self.vectors = self._matrix

    def set_words(self, words: list[str], counts: npt.NDArray[Any] | None) -> None:
        """Replace all words."""
        self.index_to_key = words
        self.key_to_index = {word: row for row, word in enumerate(words)}
        self.expandos = {} if counts is None else {"count": np.array(counts, np.int64)}
        self._snapshot = None

    def __len__(self) -> int:
        return len(self.index_to_key)

    def __contains__(self, key: object) -> bool:
        return self.has_index_for(key)

    def __getitem__(self, key_or_keys: Any) -> npt.NDArray[Any]:
        if isinstance(key_or_keys, str | int | np.integer):
            return self.get_vector(key_or_keys)  # type: ignore[arg-type]
        return np.vstack([self.get_vector(key) for key in key_or_keys])

    def __setitem__(self, keys: str | list[str], weights: NewVectors) -> None:
        self.add_vectors(keys, weights, replace=True)

    def __str__(self) -> str:
        return f"{type(self).__name__}<vector_size={self.vector_size}, {len(self)} keys>"

    def has_index_for(self, key: object) -> bool:
        """Whether a word has a row."""
        return self.get_index(key, -1) >= 0

    def get_index(self, key: Any, default: int | None = None) -> int:
        """The row of a word; a number is a row itself."""
        if isinstance(key, int | np.integer) and 0 <= key < len(self):
            return int(key)
        row = self.key_to_index.get(key, default)
        if row is None:
            raise UnknownWordError(str(key))
        return row

    def get_vector(self, key: str | int, norm: bool = False) -> npt.NDArray[Any]:
        """The vector of a word, read-only; scaled to length 1 with `norm`."""
        if norm:
            return self.as_vectors().get_vector(key, norm=True)
        vector: npt.NDArray[Any] = self.vectors[self.get_index(key)].view()
        vector.setflags(write=False)
        return vector

    def add_vector(self, key: str, vector: npt.NDArray[Any]) -> int:
        """Add one word, or replace its vector; returns its row."""
        self.add_vectors([key], [vector], replace=True)
        return self.key_to_index[key]

    def add_vectors(
        self,
        keys: str | Sequence[str],
        weights: NewVectors,
        extras: dict[str, npt.NDArray[Any]] | None = None,
        replace: bool = False,
    ) -> None:
        """Add words; those that are there already keep their vectors unless `replace` is set."""
        words = [keys] if isinstance(keys, str) else list(keys)
        rows = np.asarray(weights).reshape(len(words), -1).astype(self.vectors.dtype)
        if not all(isinstance(word, str) for word in words):
            raise InvalidArgumentError("malmoi's keys are words: numbers cannot be added as keys")
        if rows.shape[1] != self.vector_size:
            raise InvalidArgumentError(
                f"the new vectors have {rows.shape[1]} dimensions instead of {self.vector_size}"
            )
        is_new = np.array([word not in self.key_to_index for word in words], dtype=bool)
        if replace:
            known = [self.key_to_index[word] for word in words if word in self.key_to_index]
            self.vectors[known] = rows[~is_new]
        for word, new in zip(words, is_new, strict=True):
            if new:
                self.key_to_index[word] = len(self.index_to_key)
                self.index_to_key.append(word)
        self.vectors = np.vstack([self.vectors, rows[is_new]])
        self._extend_attributes(words, is_new, extras or {})

    def _extend_attributes(
        self, words: list[str], is_new: npt.NDArray[np.bool_], extras: dict[str, npt.NDArray[Any]]
    ) -> None:
        for name in {*self.expandos, *extras}:
            values = np.asarray(extras.get(name, np.zeros(len(words), self._attribute(name).dtype)))
            self.expandos[name] = self._resized(name, values.dtype)
            new_rows = [self.key_to_index[w] for w, new in zip(words, is_new, strict=True) if new]
            self.expandos[name][new_rows] = values[is_new]

    def _attribute(self, name: str) -> npt.NDArray[Any]:
        return self.expandos.get(name, np.zeros(0, np.int64))

    def _resized(self, name: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """The values of an attribute, with zeros for new words."""
        old = self.expandos.get(name, np.zeros(0, dtype))
        return np.concatenate([old, np.zeros(len(self) - len(old), old.dtype)])

    def set_vecattr(self, key: str | int, attr: str, val: Any) -> None:
        """Set an attribute of a word, such as its count."""
        kind = object if isinstance(val, str | list | np.ndarray) else np.asarray(val).dtype
        self.expandos[attr] = self._resized(attr, kind)
        self.expandos[attr][self.get_index(key)] = val
        self._snapshot = None

    def get_vecattr(self, key: str | int, attr: str) -> Any:
        """An attribute of a word, such as its count."""
        return self.expandos[attr][self.get_index(key)]

    def sort_by_descending_frequency(self) -> None:
        """Order the words by their counts, most frequent first."""
        order = np.argsort(-self.expandos["count"], kind="stable")
        attributes = {name: values[order] for name, values in self.expandos.items()}
        if len(self.vectors):
            self.vectors = self.vectors[order]
        self.set_words([self.index_to_key[row] for row in order], None)
        self.expandos = attributes

    def vectors_for_all(
        self, keys: Iterable[str], allow_inference: bool = True, copy_vecattrs: bool = False
    ) -> "KeyedVectors":
        """KeyedVectors of these words alone; unseen ones by n-grams, if that is allowed."""
        known = self if allow_inference else self.key_to_index
        words = [word for word in dict.fromkeys(keys) if word in known]
        chosen = KeyedVectors(self.vector_size, dtype=self.vectors.dtype)
        chosen.set_words(words, np.arange(len(words), 0, -1))
        chosen.vectors = self[words] if words else chosen.vectors
        if copy_vecattrs:
            for name in self.expandos:
                for word in filter(self.key_to_index.__contains__, words):
                    chosen.set_vecattr(word, name, self.get_vecattr(word, name))
        return chosen

    def unit_normalize_all(self) -> None:
        """Scale all vectors to length 1, for good."""
        self.vectors = self.get_normed_vectors()

    def save(self, fname: str | Path, **pickle_arguments: object) -> None:
        """Save to one file in malmoi's own format, which `malmoi.load` opens too."""
        check_pickle_arguments(pickle_arguments)
        save(
            self.as_vectors().with_meta(gensim='{"class": "KeyedVectors"}'), fname, format="malmoi"
        )

    @classmethod
    def load(cls, fname: str | Path, mmap: str | None = None) -> Self:
        """Load vectors in any format that malmoi reads, gensim's own among them.

        Vectors with n-grams become `FastTextKeyedVectors`. malmoi's own file is mapped anyway.
        """
        from malmoi.compat.gensim.vectors.fasttext_vectors import (
            FastTextKeyedVectors,  # its subclass
        )

        vectors = load(fname)
        has_ngrams = isinstance(vectors, SubwordVectors)
        kind = FastTextKeyedVectors if has_ngrams and cls is KeyedVectors else cls
        return cast(Self, kind.of(vectors))

    save_word2vec_format = save_word2vec_format
    intersect_word2vec_format = intersect_word2vec_format
    load_word2vec_format = classmethod(load_word2vec_format)


def check_pickle_arguments(arguments: dict[str, object]) -> None:
    """Warn about arguments of gensim's pickles, and refuse others."""
    for name in arguments:
        if name not in PICKLE_ARGUMENTS:
            raise TypeError(f"save() got an unexpected argument '{name}'")
        warn(f"{name} does not apply: malmoi saves one file, which is not a pickle")
