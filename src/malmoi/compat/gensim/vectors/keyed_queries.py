"""KeyedQueries: gensim's queries, answered by the methods of `Vectors`."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.compat.gensim.vectors.evaluations import Correlation, evaluate_analogies, evaluate_pairs
from malmoi.errors import UnknownWordError, warn
from malmoi.nearest.top_k import all_scores
from malmoi.query.terms import QueryKey, QueryKeys, SimilarWords
from malmoi.vectors import Vectors, l2_normalize


class KeyedQueries(ABC):
    """What KeyedVectors answer; unknown words raise `UnknownWordError`, which is a KeyError."""

    index_to_key: list[str]

    @abstractmethod
    def as_vectors(self) -> Vectors:
        """The same vectors as `malmoi.Vectors`."""

    @abstractmethod
    def __contains__(self, key: object) -> bool: ...

    @abstractmethod
    def get_index(self, key: Any, default: int | None = None) -> int:
        """The row of a word."""

    @abstractmethod
    def get_vector(self, key: str | int, norm: bool = False) -> npt.NDArray[Any]:
        """The vector of a word."""

    def most_similar(
        self,
        positive: QueryKeys = None,
        negative: QueryKeys = None,
        topn: int | None = 10,
        clip_start: int = 0,
        clip_end: int | None = None,
        restrict_vocab: int | None = None,
        indexer: Any = None,
    ) -> Any:
        """The words nearest to the mean of some words; see `Vectors.most_similar`."""
        vectors: Any = self.as_vectors()  # topn may be None, which changes the type of the result
        return vectors.most_similar(
            positive, negative, topn, clip_start, clip_end, restrict_vocab, indexer
        )

    def most_similar_cosmul(
        self,
        positive: QueryKeys = None,
        negative: QueryKeys = None,
        topn: int | None = 10,
        restrict_vocab: int | None = None,
    ) -> SimilarWords | Float32Array:
        """As `most_similar`, by the product of cosines instead of their sum."""
        return self.as_vectors().most_similar_cosmul(positive, negative, topn, restrict_vocab)

    def similar_by_key(
        self, key: str, topn: int | None = 10, restrict_vocab: int | None = None
    ) -> Any:
        """The words nearest to a word."""
        return self.most_similar([key], topn=topn, restrict_vocab=restrict_vocab)

    similar_by_word = similar_by_key

    def similar_by_vector(
        self, vector: npt.NDArray[Any], topn: int | None = 10, restrict_vocab: int | None = None
    ) -> Any:
        """The words nearest to a vector."""
        return self.most_similar([vector], topn=topn, restrict_vocab=restrict_vocab)

    def most_similar_to_given(self, key1: str, keys_list: Sequence[str]) -> str:
        """The word of a list that is nearest to a word."""
        return keys_list[int(np.argmax([self.similarity(key1, key) for key in keys_list]))]

    def similarity(self, w1: str, w2: str) -> float:
        """The cosine between two words."""
        return self.as_vectors().similarity(w1, w2)

    def distance(self, w1: str, w2: str) -> float:
        """The cosine distance between two words: 1 - `similarity`, 0 for a word and itself."""
        return 0.0 if w1 == w2 and self.similarity(w1, w2) else 1 - self.similarity(w1, w2)

    def distances(
        self, word_or_vector: str | int | npt.NDArray[Any], other_words: Sequence[str] = ()
    ) -> npt.NDArray[Any]:
        """The cosine distances of a word or vector to other words, or to all."""
        is_vector = isinstance(word_or_vector, np.ndarray)
        vector = np.asarray(word_or_vector if is_vector else self.get_vector(word_or_vector))  # type: ignore[arg-type]
        rows = [self.get_index(word) for word in other_words] if len(other_words) else slice(None)
        others = self.as_vectors().take(np.array(rows) if isinstance(rows, list) else rows)
        return 1 - all_scores(others, l2_normalize(vector.astype(np.float32)))

    @staticmethod
    def cosine_similarities(
        vector_1: npt.NDArray[Any], vectors_all: npt.NDArray[Any]
    ) -> npt.NDArray[Any]:
        """The cosines of a vector with the rows of a matrix."""
        cosines: npt.NDArray[Any] = l2_normalize(vectors_all) @ l2_normalize(vector_1)
        return cosines

    def n_similarity(self, ws1: Sequence[str], ws2: Sequence[str]) -> float:
        """The cosine between the means of two lists of words; unknown words are left out."""
        if not (len(ws1) and len(ws2)):
            raise ZeroDivisionError("at least one of the lists is empty")
        return self.as_vectors().n_similarity(ws1, ws2)

    def doesnt_match(self, words: Iterable[str]) -> str:
        """The word that is farthest from the mean of all words."""
        return self.as_vectors().doesnt_match(words)

    def rank_by_centrality(
        self, words: Sequence[str], use_norm: bool = True
    ) -> list[tuple[float, str]]:
        """Similarities to the mean of all known words with the words, nearest first."""
        known = [word for word in words if word in self]
        if not known:
            raise ValueError("none of the words is known")
        rows = np.stack([self.get_vector(word, norm=use_norm) for word in known])
        scores = rows @ l2_normalize(rows.mean(axis=0))
        return sorted(zip(scores.tolist(), known, strict=True), reverse=True)

    def closer_than(self, key1: str, key2: str) -> list[str]:
        """The words that are nearer to `key1` than `key2` is."""
        distances, own = self.distances(key1), self.get_index(key1)
        nearer = np.flatnonzero(distances < distances[self.get_index(key2)])
        return [self.index_to_key[row] for row in nearer if row != own]

    def rank(self, key1: str, key2: str) -> int:
        """The rank of `key2` among the neighbours of `key1`."""
        return len(self.closer_than(key1, key2)) + 1

    def relative_cosine_similarity(self, wa: str, wb: str, topn: int = 10) -> float:
        """The similarity of two words over that of the `topn` nearest words of the first."""
        near = self.similar_by_key(wa, topn)
        if not near:
            raise ValueError("there are no similar words: topn must be at least 1")
        return self.similarity(wa, wb) / float(sum(score for _, score in near))

    def get_mean_vector(
        self,
        keys: Sequence[QueryKey],
        weights: Sequence[float] | npt.NDArray[Any] | None = None,
        pre_normalize: bool = True,
        post_normalize: bool = False,
        ignore_missing: bool = True,
    ) -> Float32Array:
        """The weighted mean of words and vectors; unknown words are left out with a warning."""
        shares = np.ones(len(keys)) if weights is None else np.asarray(weights, dtype=float)
        if len(keys) == 0 or len(keys) != len(shares):
            raise ValueError(f"{len(keys)} keys for {len(shares)} weights: give one each, or more")
        rows, used, missing = [], [], []
        for key, share in zip(keys, shares, strict=True):
            if not isinstance(key, np.ndarray) and key not in self:
                missing.append(key)
                continue
            is_vector = isinstance(key, np.ndarray)
            rows.append(key if is_vector else self.get_vector(key, norm=pre_normalize))  # type: ignore[arg-type]
            used.append(share)
        if missing and not ignore_missing:
            raise UnknownWordError(str(missing[0]))
        if missing:
            warn(f"words without a vector left out: {len(missing)}, such as '{missing[0]}'")
        if not rows:
            return np.zeros(self.as_vectors().dim, np.float32)
        factors = np.array(used, np.float32)
        mean: Float32Array = factors @ np.array(rows, np.float32)
        mean = mean / max(np.abs(factors).sum(), np.float32(1e-30))
        return l2_normalize(mean) if post_normalize else mean

    def get_normed_vectors(self) -> Float32Array:
        """All vectors, scaled to length 1."""
        return l2_normalize(self.as_vectors().matrix)

    def evaluate_word_analogies(
        self,
        analogies: str,
        restrict_vocab: int = 300_000,
        case_insensitive: bool = True,
        dummy4unknown: bool = False,
        similarity_function: str = "most_similar",
    ) -> tuple[float, list[dict[str, Any]]]:
        """The share of analogies solved, and the questions of each section."""
        return evaluate_analogies(
            self.as_vectors(),
            analogies,
            restrict_vocab,
            case_insensitive,
            dummy4unknown,
            similarity_function,
        )

    def evaluate_word_pairs(
        self,
        pairs: str,
        delimiter: str = "\t",
        encoding: str = "utf8",
        restrict_vocab: int = 300_000,
        case_insensitive: bool = True,
        dummy4unknown: bool = False,
    ) -> tuple[Correlation, Correlation, float]:
        """Pearson's and Spearman's correlation with human scores; per cent of unknown pairs."""
        return evaluate_pairs(
            self.as_vectors(),
            pairs,
            delimiter,
            encoding,
            restrict_vocab,
            case_insensitive,
            dummy4unknown,
        )

    def wmdistance(self, *_: object, **__: object) -> NoReturn:
        """Not available: it needs a solver of optimal transport, which malmoi does not have."""
        raise NotImplementedError(
            "wmdistance needs a solver of optimal transport, which malmoi does not have: compare"
            " the texts' vectors instead, with malmoi.average_encoder(vectors)"
        )
