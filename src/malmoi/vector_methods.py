"""VectorMethods: queries as methods of `Vectors`, named as those of gensim's KeyedVectors.

Each method is a thin layer over functions of `malmoi.query`, which it imports when it is called:
`Vectors` itself knows no queries. A word without a row is looked up as `vectors[word]` does, by its
n-grams if there are any; the functions of `malmoi.query` also correct typos.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError, UnknownWordError, warn

if TYPE_CHECKING:
    from malmoi.query.analogy import AnalogyMethod
    from malmoi.query.neighbours import Neighbour
    from malmoi.query.terms import QueryKeys, SimilarWords
    from malmoi.vectors import Vectors


class VectorMethods:
    """The methods of `Vectors` that gensim's KeyedVectors have too."""

    @property
    def _own(self) -> "Vectors":
        """These methods' object by its type: they are of `Vectors` alone."""
        return cast("Vectors", self)

    @cached_property
    def index_to_key(self) -> list[str]:
        """The words as a list; `keys` are the same words without the list."""
        return list(self._own.keys)

    @cached_property
    def key_to_index(self) -> dict[str, int]:
        """The row of each word as a dictionary; `row` finds one without the dictionary."""
        return {word: row for row, word in enumerate(self._own.keys)}

    @property
    def vectors(self) -> Float32Array:
        """The matrix, one row per word."""
        return self._own.matrix

    @property
    def vector_size(self) -> int:
        """The number of dimensions."""
        return self._own.dim

    def get_vector(self, key: str | int, norm: bool = False) -> Float32Array:
        """Look up the vector of a word.

        Args:
            key: The word, or the number of its row.
            norm: Scale the vector to length 1.

        Returns:
            The vector, float32 [dim].

        Raises:
            UnknownWordError: The word has no row and no known n-gram.
        """
        from malmoi.query.suggestions import near_spellings
        from malmoi.vectors import l2_normalize

        if isinstance(key, str):
            try:
                vector = self._own.vector(key)
            except UnknownWordError:
                raise UnknownWordError(key, near_spellings(self._own.keys, key)) from None
        elif isinstance(key, int | np.integer) and 0 <= key < len(self._own):
            vector = self._own.rows_of("matrix", int(key))
        else:
            raise UnknownWordError(str(key))
        return l2_normalize(vector) if norm else vector

    def similarity(self, w1: str, w2: str) -> float:
        """The cosine between two words.

        Args:
            w1: A word.
            w2: Another.

        Returns:
            A number from -1 to 1.

        Raises:
            UnknownWordError: A word has no row and no known n-gram.
        """
        from malmoi.query.compare import similarity

        return similarity(self._own, self.get_vector(w1), self.get_vector(w2))

    def distance(self, w1: str, w2: str) -> float:
        """The cosine distance between two words: 1 - `similarity`."""
        return 1 - self.similarity(w1, w2)

    def n_similarity(self, ws1: Sequence[str], ws2: Sequence[str]) -> float:
        """The cosine between the means of two lists of words; unknown words are left out.

        Args:
            ws1: Words.
            ws2: Other words.

        Returns:
            A number from -1 to 1.

        Raises:
            UnknownWordError: All words of a list are unknown.
            InvalidArgumentError: A list is empty.
        """
        from malmoi.query.compare import similarity

        means = [np.mean(self._own[self._known_words(words)], axis=0) for words in (ws1, ws2)]
        return similarity(self._own, means[0], means[1])

    def doesnt_match(self, words: Iterable[str]) -> str:
        """The word that is farthest from the mean of all words; unknown words are left out.

        Args:
            words: The words, as a list.

        Returns:
            One of the words.

        Raises:
            UnknownWordError: All words are unknown.
            InvalidArgumentError: `words` is empty, or one string.
        """
        from malmoi.query.compare import farthest_from_mean

        known = self._known_words(words)
        return known[farthest_from_mean(self._own[known])]

    def analogy(
        self,
        expression: str,
        k: int = 10,
        *,
        method: "AnalogyMethod" = "add",
        restrict_vocab: int | None = None,
    ) -> "list[Neighbour]":
        """The k words nearest to an expression such as "king - man + woman"; see `mm.analogy`."""
        from malmoi.query.analogy import analogy

        return analogy(self._own, expression, k, method=method, restrict_vocab=restrict_vocab)

    @overload
    def most_similar(
        self,
        positive: "QueryKeys" = None,
        negative: "QueryKeys" = None,
        topn: int = 10,
        clip_start: int = 0,
        clip_end: int | None = None,
        restrict_vocab: int | None = None,
        indexer: Any = None,
    ) -> "SimilarWords": ...
    @overload
    def most_similar(
        self,
        positive: "QueryKeys" = None,
        negative: "QueryKeys" = None,
        *,
        topn: None,
        clip_start: int = 0,
        clip_end: int | None = None,
        restrict_vocab: int | None = None,
        indexer: Any = None,
    ) -> Float32Array: ...
    def most_similar(
        self,
        positive: "QueryKeys" = None,
        negative: "QueryKeys" = None,
        topn: int | None = 10,
        clip_start: int = 0,
        clip_end: int | None = None,
        restrict_vocab: int | None = None,
        indexer: Any = None,
    ) -> "SimilarWords | Float32Array":
        """The words nearest to the mean of some words, without these words themselves.

        Args:
            positive: Words, numbers of rows or vectors that are added, one or a list; each may
                be a tuple with its weight.
            negative: Those that are subtracted.
            topn: How many words to return; None returns the cosine of every word as an array.
            clip_start: The first row that is searched.
            clip_end: The row after the last one that is searched.
            restrict_vocab: Search only the first rows, this many.
            indexer: An object with `most_similar(vector, topn)` that answers instead.

        Returns:
            Tuples of word and cosine, best first.

        Raises:
            UnknownWordError: A word has no row and no known n-gram.
            InvalidArgumentError: There is nothing to look for.
        """
        from malmoi.query.terms import nearest_to_terms, weighted_terms

        rows = slice(
            0 if restrict_vocab else clip_start, restrict_vocab or clip_end or len(self._own)
        )
        terms = weighted_terms(self._own, positive, negative)
        return nearest_to_terms(self._own, terms, topn, rows, indexer)

    def most_similar_cosmul(
        self,
        positive: "QueryKeys" = None,
        negative: "QueryKeys" = None,
        topn: int | None = 10,
        restrict_vocab: int | None = None,
    ) -> "SimilarWords | Float32Array":
        """As `most_similar`, by the product of cosines (3CosMul) instead of their sum."""
        from malmoi.query.terms import best_products, weighted_terms

        rows = slice(0, restrict_vocab or len(self._own))
        return best_products(self._own, weighted_terms(self._own, positive, negative), topn, rows)

    def similar_by_word(
        self, word: str, topn: int = 10, restrict_vocab: int | None = None
    ) -> "SimilarWords":
        """The words nearest to a word: `most_similar` of one word."""
        return self.most_similar([word], topn=topn, restrict_vocab=restrict_vocab)

    def similar_by_vector(
        self, vector: Float32Array, topn: int = 10, restrict_vocab: int | None = None
    ) -> "SimilarWords":
        """The words nearest to a vector: `most_similar` of one vector."""
        return self.most_similar([vector], topn=topn, restrict_vocab=restrict_vocab)

    def _known_words(self, words: Iterable[str]) -> list[str]:
        """The words that have a vector; a warning counts the others."""
        if isinstance(words, str):
            raise InvalidArgumentError(f"words must be a list of words, not the string '{words}'")
        given = list(words)
        known = [word for word in given if self._has_vector(word)]
        if not given:
            raise InvalidArgumentError("there are no words: give at least one")
        if not known:
            raise UnknownWordError(given[0])
        if len(known) < len(given):
            missing = next(word for word in given if word not in known)
            warn(f"words without a vector left out: {len(given) - len(known)}, such as '{missing}'")
        return known

    def _has_vector(self, word: str) -> bool:
        try:
            self._own.vector(word)
        except UnknownWordError:
            return False
        return True
