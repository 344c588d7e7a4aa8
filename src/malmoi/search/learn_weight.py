"""The weight of words in a hybrid search, learnt from the texts of an index without any labels.

The text that a pseudo-query came from is what a search should find first. The weight is the one
nearest to the default whose mean reciprocal rank is not measurably below the best. The same texts
and encoder give the same weight.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.protocol import Encoder
from malmoi.search.fingerprint import document_encoder, query_encoder
from malmoi.search.querying.bm25 import mean_length, score_text, weighted_scores, word_weights
from malmoi.search.querying.hybrid import cosines_of
from malmoi.search.querying.pseudo_queries import PseudoQuery, make_queries
from malmoi.search.storage.fusion import DEFAULT_WEIGHT, Fusion, fuse
from malmoi.search.storage.passage_offsets import embed_texts
from malmoi.search.storage.state import State
from malmoi.vectors import l2_normalize

MAX_QUERIES = 256
MAX_CANDIDATES = 10_000  # texts ranked per query
SEED = 1
WEIGHTS = np.arange(10, 95, 5) / 100  # never one side alone: some queries have no match there
MAX_STANDARD_ERRORS = 0.5  # below the best mean reciprocal rank
TIE_TOLERANCE = 1e-6  # difference of equal scores


def with_weight(state: State, encoder: Encoder) -> State:
    """The state with a hybrid weight: its own, or a new one if the state has changed much."""
    if state.count == 0:
        return replace(state, fusion=None)
    if state.fusion and not state.fusion.is_stale:
        return state
    return replace(state, fusion=learn_weight(state, encoder))


class RankedTexts(Protocol):
    """The texts that pseudo-queries rank, in order; words are weighted among all texts."""

    @property
    def mean(self) -> float:
        """The mean number of words per text."""

    def texts(self, positions: Int64Array) -> Sequence[str]:
        """Some of the texts."""

    def cosines(self, directions: Float32Array) -> Float32Array:
        """The cosines of all texts with unit directions, [directions, texts]."""

    def weights(self, words: Sequence[str]) -> Mapping[str, float]:
        """The weights of words in BM25."""

    def scores(self, weights: Mapping[str, float]) -> Float32Array:
        """The BM25 scores of all texts."""


@dataclass(frozen=True)
class StateTexts:
    """Some rows of a state, as the texts that pseudo-queries rank."""

    state: State
    rows: Int64Array

    @property
    def mean(self) -> float:
        """The mean number of words per text."""
        return mean_length(self.state.postings, self.state.alive)

    def texts(self, positions: Int64Array) -> Sequence[str]:
        """Some of the texts."""
        return [self.state.entry(row).text for row in self.rows[positions].tolist()]

    def cosines(self, directions: Float32Array) -> Float32Array:
        """The cosines of all texts with unit directions, [directions, texts]."""
        return cosines_of(self.state, self.rows, directions)

    def weights(self, words: Sequence[str]) -> Mapping[str, float]:
        """The weights of words in BM25."""
        return word_weights(self.state.postings, self.state.alive, words)

    def scores(self, weights: Mapping[str, float]) -> Float32Array:
        """The BM25 scores of all texts."""
        scores: Float32Array = weighted_scores(self.state.postings, weights, self.mean)[self.rows]
        return scores


def learn_weight(state: State, encoder: Encoder) -> Fusion:
    """Make pseudo-queries and choose the weight that ranks their texts best."""
    living = np.flatnonzero(state.living)
    ranked, own = drawn_texts(len(living))
    return weight_of(StateTexts(state, living[ranked]), own, state, encoder)


def drawn_texts(texts: int) -> tuple[Int64Array, Int64Array]:
    """Which of so many texts pseudo-queries rank, and which of these have one, in order."""
    random = np.random.default_rng(SEED)
    ranked = np.sort(random.permutation(texts)[:MAX_CANDIDATES])
    return ranked, np.sort(random.permutation(len(ranked))[:MAX_QUERIES])


def weight_of(ranked: RankedTexts, own: Int64Array, state: State, encoder: Encoder) -> Fusion:
    """The weight that ranks the texts of pseudo-queries best; `own` are their positions."""
    texts = ranked.texts(own)
    queries = make_queries([text.encode("utf-8", "replace").decode() for text in texts])
    with warnings.catch_warnings():  # about pseudo-queries, which are not the user's texts
        warnings.simplefilter("ignore")
        cosines = _cosines(ranked, state, encoder, queries, own)
    ranks = [
        _reciprocal_ranks(near, matched, int(position), state.spread)
        for near, matched, position in zip(
            cosines, _matches(ranked, state, queries, own), own, strict=True
        )
    ]
    return Fusion(weight=choose_weight(np.array(ranks)), queries=len(queries), texts=state.count)


def _cosines(
    ranked: RankedTexts,
    state: State,
    encoder: Encoder,
    queries: Sequence[PseudoQuery],
    own: Int64Array,
) -> Float32Array:
    """Cosines [queries, texts]; with a query's own text, of what the query leaves of it."""
    vectors = query_encoder(encoder, state).encode([each.query for each in queries])
    directions = l2_normalize(vectors)
    cosines = ranked.cosines(directions)
    at = [i for i, each in enumerate(queries) if each.rest is not None]
    rests = [each.rest for each in queries if each.rest is not None]
    if not rests:
        return cosines
    embedded = embed_texts(document_encoder(encoder, state), rests, split=state.passages)
    for i, rest in zip(at, embedded, strict=True):
        cosines[i, own[i]] = (l2_normalize(rest.matrix) @ directions[i]).max()
    return cosines


def _matches(
    ranked: RankedTexts, state: State, queries: Sequence[PseudoQuery], own: Int64Array
) -> Iterator[Float32Array]:
    """For each query BM25 of each text, as a share of its highest value."""
    query_words = state.analyser.many([each.query for each in queries])
    rests = state.analyser.many([each.rest or "" for each in queries])
    for each, position, words, rest in zip(queries, own, query_words, rests, strict=True):
        weights = ranked.weights(words)
        scores = ranked.scores(weights)
        if each.rest is not None:
            scores[position] = score_text(weights, rest, ranked.mean)
        yield scores / np.float32(sum(weights.values()) or 1)


def _reciprocal_ranks(
    cosines: Float32Array, matched: Float32Array, own: int, spread: float
) -> list[float]:
    """1 / the rank of a text for each weight; equal scores share their mean rank."""
    ranks = []
    for weight in WEIGHTS.tolist():
        scores = fuse(cosines, matched, weight, spread)
        better = int(np.count_nonzero(scores > scores[own] + TIE_TOLERANCE))
        equal = int(np.count_nonzero(scores >= scores[own] - TIE_TOLERANCE)) - better - 1
        ranks.append(1 / (1 + better + equal / 2))
    return ranks


def choose_weight(ranks: npt.NDArray[np.float64]) -> float:
    """The weight nearest to the default that is not measurably worse than the best.

    `ranks` are reciprocal ranks [queries, weights]. A difference is measurable above a share of
    the standard error of the difference to the best weight, over the same queries.
    """
    best = int(ranks.mean(axis=0).argmax())
    less = ranks[:, best : best + 1] - ranks
    error = less.std(axis=0) / np.sqrt(len(ranks))
    good = WEIGHTS[less.mean(axis=0) <= MAX_STANDARD_ERRORS * error + TIE_TOLERANCE]
    return float(good[np.abs(good - DEFAULT_WEIGHT).argmin()])
