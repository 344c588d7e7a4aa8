"""The weight of words in a hybrid search, learnt from the texts of an index without any labels.

A pseudo-query is a few words of a text, some of them left out; the text that it came from is what
a search should find first. The weight is the one nearest to the default whose mean reciprocal rank
is not measurably below the best. The same texts and encoder give the same weight.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
import numpy.typing as npt

from malmoi.encode.protocol import Encoder
from malmoi.search.fusion import DEFAULT_WEIGHT, Fusion, fuse
from malmoi.search.hybrid import cosines_of, highest
from malmoi.search.models import reader_of_queries
from malmoi.search.ranking import word_scores
from malmoi.search.state import State
from malmoi.vectors import Matrix, l2_normalize

QUERIES = 256
AMONG = 10_000  # texts that are ranked for each query
SHORTEST, LONGEST = 6, 14  # words of a text that a query is taken from
KEPT = 0.6  # the share of them that stays
SEED = 1
WEIGHTS = np.linspace(0, 1, 21)
EQUAL = 1e-6  # scores


def with_weight(state: State, encoder: Encoder) -> State:
    """The same with a weight that fits it: its own, or where it changed much a new one."""
    if state.count == 0:
        return replace(state, fusion=None)
    if state.fusion and not state.fusion.is_stale:
        return state
    return replace(state, fusion=learn_weight(state, encoder))


def learn_weight(state: State, encoder: Encoder) -> Fusion:
    """Make pseudo-queries, and see with which weight their texts are found best."""
    random, living = np.random.default_rng(SEED), np.flatnonzero(state.living)
    among = np.sort(random.permutation(living)[:AMONG])
    own = np.sort(random.permutation(len(among))[:QUERIES])  # places in `among`
    queries = make_queries([state.entry(int(row)).text for row in among[own]])
    with warnings.catch_warnings():  # nobody asked these queries
        warnings.simplefilter("ignore")
        directions = l2_normalize(reader_of_queries(encoder, state).encode(queries))
    cosines = cosines_of(state, among, directions)
    ranks = []
    for at, words in enumerate(state.analyser.many(queries)):
        matched = word_scores(state, words, state.alive)[among] / highest(state, words)
        ranks.append(_reciprocal_ranks(cosines[at], matched, int(own[at]), state.spread))
    weight = choose_weight(np.array(ranks))
    return Fusion(weight=weight, queries=len(queries), texts=state.count)


def make_queries(texts: Sequence[str]) -> list[str]:
    """A pseudo-query for each text."""
    random = Random(SEED)
    return [_query(text.split(), random) for text in texts]


def _query(words: list[str], random: Random) -> str:
    count = min(len(words), random.randint(SHORTEST, LONGEST))
    start = random.randint(0, len(words) - count)
    span = words[start : start + count]
    return " ".join([word for word in span if random.random() < KEPT] or span)


def _reciprocal_ranks(cosines: Matrix, matched: Matrix, own: int, spread: float) -> list[float]:
    """1 / the rank of a text, by each of the weights; others that are equally good do not count."""
    found = []
    for weight in WEIGHTS.tolist():
        scores = fuse(cosines, matched, weight, spread)
        found.append(1 / (1 + int(np.count_nonzero(scores > scores[own] + EQUAL))))
    return found


def choose_weight(found: npt.NDArray[np.float64]) -> float:
    """The weight nearest to the default that is not measurably worse than the best.

    `found` are reciprocal ranks [queries, weights]; measurably worse is by more than one standard
    error of the difference to the best weight, over the same queries.
    """
    best = int(found.mean(axis=0).argmax())
    less = found[:, best : best + 1] - found
    error = less.std(axis=0) / np.sqrt(len(found))
    good = WEIGHTS[less.mean(axis=0) <= error + EQUAL]
    return float(good[np.abs(good - DEFAULT_WEIGHT).argmin()])
