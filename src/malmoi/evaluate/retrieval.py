"""Retrieval: how well an index finds the texts that people judged relevant, by nDCG and recall.

nDCG@k (Järvelin and Kekäläinen 2002) with the judgement as gain: Σ gain / log₂(rank + 1) over the
first k results, divided by the same sum in the ideal order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path

import numpy as np

from malmoi.arguments import expect, expect_count, expect_path
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.evaluate.scores import SCORE_HEADER, Score, mean
from malmoi.search.index import Index
from malmoi.table import Table, Tabular
from malmoi.text.readers import JsonLinesReader, TableReader

Judgements = Mapping[str, float]  # the gain of each relevant text, by its id


@dataclass(frozen=True)
class RetrievalSet:
    """Queries by id, and the relevant texts of each."""

    queries: Mapping[str, str]
    relevant: Mapping[str, Judgements]


@dataclass(frozen=True)
class RetrievalScores(Tabular):
    """Means over all queries that have a relevant text."""

    ndcg: Score
    recall: Score

    def _table(self) -> Table:
        rows = [("nDCG", *self.ndcg.cells), ("recall", *self.recall.cells)]
        return Table("Retrieval", ["", *SCORE_HEADER], rows)


def evaluate_retrieval(
    index: Index,
    test: RetrievalSet,
    k: int = 10,
    *,
    hybrid: bool = False,
    lexical: bool = False,
    weight: float | None = None,
) -> RetrievalScores:
    """Search an index for every query of a test and score the results.

    Args:
        index: The index to evaluate.
        test: Queries and relevant texts, as `load_beir` reads them.
        k: How many results count.
        hybrid: Search by meaning and by words.
        lexical: Search by words alone (BM25).
        weight: The weight of words in a hybrid search; None for the one the index has learnt.

    Returns:
        nDCG@k and recall@k with intervals.

    Raises:
        InvalidArgumentError: k or the weight is not valid.

    Example:
        index = mm.build_index(mm.load_encoder("minilm"), ["It rains.", "The bank is closed."])
        test = mm.RetrievalSet({"q": "Is the bank open?"}, {"q": {"1": 1.0}})
        scores = mm.evaluate_retrieval(index, test, k=10)
    """
    hint = "open one with open_index, or build it with build_index"
    expect(index, Index, "index", "an index", hint=hint)
    expect(test, RetrievalSet, "test", "queries and relevant texts, as load_beir reads them")
    expect_count(k)

    def search(query: str) -> list[str]:
        hits = index.search(query, k, hybrid=hybrid, lexical=lexical, weight=weight)
        return [hit.id for hit in hits]

    return score_retrieval(search, test, k)


def score_retrieval(
    search: Callable[[str], Sequence[str]], test: RetrievalSet, k: int
) -> RetrievalScores:
    """The scores of any function that returns ids for a query, best first."""
    judged = [name for name in test.queries if any(test.relevant.get(name, {}).values())]
    gains, shares = [], []
    for name in judged:
        ids = search(test.queries[name])
        gains.append(ndcg(ids, test.relevant[name], k))
        shares.append(recall(ids, test.relevant[name], k))
    total = len(test.queries)
    return RetrievalScores(mean(np.array(gains), total), mean(np.array(shares), total))


def ndcg(ids: Sequence[str], relevant: Judgements, k: int) -> float:
    """Normalised discounted cumulative gain of the first k results."""
    gains = [relevant.get(name, 0.0) for name in dict.fromkeys(ids[:k])]
    return _discounted(gains) / _discounted(sorted(relevant.values(), reverse=True)[:k])


def recall(ids: Sequence[str], relevant: Judgements, k: int) -> float:
    """The share of the relevant texts that are among the first k results."""
    expected = {name for name, gain in relevant.items() if gain > 0}
    return len(expected & {*ids[:k]}) / len(expected)


def load_beir(folder: str | Path, split: str = "test") -> RetrievalSet:
    """Read a test in BEIR's layout: queries.jsonl (`_id`, `text`) and qrels/SPLIT.tsv.

    Args:
        folder: The folder of the test. Files may be compressed (.gz), and the split may also be
            part of their names: queries_SPLIT.jsonl, qrels_SPLIT.tsv.
        split: The split to read.

    Returns:
        The queries that have judgements, and the judgements.

    Raises:
        InvalidFileError: A file is missing or damaged.
        InvalidArgumentError: No query has judgements.

    Example:
        test = mm.load_beir("scifact", split="train")
    """
    root = expect_path(folder, "folder")
    questions = first_file(root, f"queries_{split}.jsonl", "queries.jsonl")
    judged = first_file(root, f"qrels_{split}.tsv", f"qrels/{split}.tsv")
    relevant: dict[str, dict[str, float]] = {}
    rows = TableReader(judged, "score", separator="\t").rows()
    next(rows)
    for number, row, _ in rows:
        try:
            query, text, gain = row
            relevant.setdefault(query, {})[text] = float(gain)
        except ValueError as error:
            raise InvalidFileError(
                f"{judged}:{number}: expected a query, a text and a number"
            ) from error
    queries = {}
    for number, value, _ in JsonLinesReader(questions, "text").objects():
        try:
            if str(value["_id"]) in relevant:
                queries[str(value["_id"])] = str(value["text"])
        except (KeyError, TypeError) as error:
            raise InvalidFileError(
                f"{questions}:{number}: the fields '_id' and 'text' are missing"
            ) from error
    if not queries:
        raise InvalidArgumentError(f"{judged} judges none of the queries of {questions}")
    return RetrievalSet(queries, relevant)


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def first_file(folder: Path, *names: str) -> Path:
    """The first of these files of a folder that exists, perhaps compressed."""
    for name in names:
        for path in (folder / name, folder / f"{name}.gz"):
            if path.is_file():
                return path
    raise InvalidFileError(f"{folder} holds neither {' nor '.join(names)}")
