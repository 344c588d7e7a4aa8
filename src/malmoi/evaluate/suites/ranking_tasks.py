"""Tasks over rankings by cosine: retrieval, groups of paraphrases, translations."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from malmoi.arrays import Float32Array, Float64Array, Int64Array
from malmoi.evaluate.retrieval import RetrievalSet, ndcg, recall
from malmoi.evaluate.suites.statistics import MeanValue
from malmoi.evaluate.suites.task import (
    Embed,
    Language,
    Measure,
    TaskKind,
    check_enough,
    sample,
)
from malmoi.nearest.top_k import rank_rows
from malmoi.vectors import Vectors, l2_normalize

K = 10  # results that count
BLOCK_QUESTIONS = 256  # compared with all texts at a time


@dataclass(frozen=True)
class RetrievalTask:
    """Finding the texts that people judged relevant among all texts (MTEB's retrieval)."""

    name: str
    language: Language
    corpus: Mapping[str, str] = field(repr=False)
    test: RetrievalSet = field(repr=False)
    kind: TaskKind = "retrieval"

    def limited(self, texts: int) -> Self:
        """Some queries with their relevant texts, and as many other texts as the limit allows."""
        judged = [name for name in self.test.queries if self._relevant(name)]
        queries = {name: self.test.queries[name] for name in sample(judged, max(1, texts // 4))}
        needed = dict.fromkeys(text for name in queries for text in self._relevant(name))
        others = [name for name in self.corpus if name not in needed]
        chosen = {*needed, *sample(others, max(0, texts - len(needed)))}
        corpus = {name: text for name, text in self.corpus.items() if name in chosen}
        relevant = {name: self.test.relevant[name] for name in queries}
        return replace(self, corpus=corpus, test=RetrievalSet(queries, relevant))

    def measure(self, embed: Embed) -> list[Measure]:
        """`ndcg_at_10` and `recall_at_10`."""
        queries = [name for name in self.test.queries if self._relevant(name)]
        check_enough(self.name, len(queries), 1, "queries with a relevant text")
        ids = list(self.corpus)
        matrix = embed(list(self.corpus.values()), "document")
        directions = embed([self.test.queries[name] for name in queries], "query")
        gains, shares = [], []
        for name, rows in zip(queries, _best_rows(matrix, directions), strict=True):
            found = [ids[row] for row in rows.tolist()]
            gains.append(ndcg(found, self.test.relevant[name], K))
            shares.append(recall(found, self.test.relevant[name], K))
        values = {f"ndcg_at_{K}": gains, f"recall_at_{K}": shares}
        return [Measure(name, MeanValue(np.array(each))) for name, each in values.items()]

    def _relevant(self, query: str) -> list[str]:
        """The relevant texts of a query."""
        return [text for text, gain in self.test.relevant.get(query, {}).items() if gain > 0]


@dataclass(frozen=True)
class ParaphraseTask:
    """Whether the questions nearest to a question are its own paraphrases.

    A group is resampled as a whole: its questions are not independent of each other.
    """

    name: str
    language: Language
    groups: tuple[tuple[str, ...], ...] = field(repr=False)
    kind: TaskKind = "paraphrases"

    def limited(self, texts: int) -> Self:
        """Whole groups, with about this many texts."""
        size = sum(map(len, self.groups)) / len(self.groups)
        return replace(self, groups=tuple(sample(self.groups, max(2, int(texts / size)))))

    def measure(self, embed: Embed) -> list[Measure]:
        """`accuracy` of the nearest other question, and `map` over all others."""
        check_enough(self.name, len(self.groups), 2, "groups")
        texts = [text for group in self.groups for text in group]
        groups = np.repeat(np.arange(len(self.groups)), list(map(len, self.groups)))
        units = l2_normalize(embed(texts))
        parts = list(_precisions(units, groups))
        values = {
            "accuracy": np.concatenate([first for first, _ in parts]),
            "map": np.concatenate([precision for _, precision in parts]),
        }
        return [Measure(name, MeanValue(each), groups) for name, each in values.items()]


@dataclass(frozen=True)
class TranslationTask:
    """Whether the nearest text of the other language is the translation (bitext mining).

    `f1` is MTEB's: each text is a class, whose F1 is 2 / (1 + how often it is predicted) if it is
    found, and 0 otherwise.
    """

    name: str
    language: Language
    pairs: tuple[tuple[str, str], ...] = field(repr=False)
    names: tuple[str, str] = ("first", "second")
    kind: TaskKind = "bitext"

    def limited(self, texts: int) -> Self:
        """The task with at most this many texts."""
        return replace(self, pairs=tuple(sample(self.pairs, max(1, texts // 2))))

    def measure(self, embed: Embed) -> list[Measure]:
        """`f1` and `accuracy` of both directions."""
        check_enough(self.name, len(self.pairs), 2, "pairs")
        one, other = (embed([pair[side] for pair in self.pairs]) for side in (0, 1))
        measures = []
        first, second = self.names
        own = np.arange(len(self.pairs))
        for direction, queries, texts in (
            (f"{second}→{first}", other, one),
            (f"{first}→{second}", one, other),
        ):
            nearest = np.concatenate([scores.argmax(axis=1) for scores in _cosines(queries, texts)])
            hits = (nearest == own).astype(np.float64)
            predicted = np.bincount(nearest, minlength=len(own))
            f1 = hits * 2 / (1 + predicted)
            measures += [Measure(f"f1, {direction}", MeanValue(f1))]
            measures += [Measure(f"accuracy, {direction}", MeanValue(hits))]
        return measures


def _best_rows(matrix: Float32Array, directions: Float32Array) -> Int64Array:
    """The rows nearest to each direction, [directions, K], best first."""
    vectors = Vectors([str(row) for row in range(len(matrix))], matrix)
    return rank_rows(vectors, l2_normalize(directions), K).rows


def _cosines(queries: Float32Array, texts: Float32Array) -> Iterator[Float32Array]:
    """The cosines of some queries with all texts, [queries, texts], block by block."""
    units = l2_normalize(texts)
    for start in range(0, len(queries), BLOCK_QUESTIONS):
        yield l2_normalize(queries[start : start + BLOCK_QUESTIONS]) @ units.T


def _precisions(
    units: Float32Array, groups: Int64Array
) -> Iterator[tuple[Float64Array, Float64Array]]:
    """Of each question: whether the nearest other is of its group, and its average precision."""
    start = 0
    for cosines in _cosines(units, units):
        rows = np.arange(start, start + len(cosines))
        cosines[np.arange(len(rows)), rows] = -np.inf  # a question does not find itself
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :-1]
        is_own = groups[order] == groups[rows, np.newaxis]
        ranks = np.arange(1, is_own.shape[1] + 1)
        precision = np.cumsum(is_own, axis=1) / ranks
        relevant = np.maximum(is_own.sum(axis=1), 1)
        yield is_own[:, 0].astype(np.float64), (precision * is_own).sum(axis=1) / relevant
        start += len(rows)
