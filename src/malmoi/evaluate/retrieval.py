"""How well an index finds what people judged relevant: nDCG and recall, over a test of queries.

nDCG@k (Järvelin and Kekäläinen 2002) with the judgement itself as gain: Σ gain / log₂(rank + 1)
of the first k texts found, over the same sum in the best order there is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path

import numpy as np

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.evaluate.scores import Score, mean
from malmoi.search.index import Index
from malmoi.text.readers import JsonLinesReader, TableReader

Judgements = Mapping[str, float]  # the gain of each text that is worth finding, by its id


@dataclass(frozen=True)
class RetrievalSet:
    """Queries by their ids, and for each the texts worth finding."""

    queries: Mapping[str, str]
    relevant: Mapping[str, Judgements]


@dataclass(frozen=True)
class RetrievalScores:
    """The mean over all queries that have something to find."""

    ndcg: Score
    recall: Score


def evaluate_retrieval(
    index: Index,
    test: RetrievalSet,
    k: int = 10,
    *,
    hybrid: bool = False,
    lexical: bool = False,
    weight: float | None = None,
) -> RetrievalScores:
    """Search for every query of a test."""

    def find(query: str) -> list[str]:
        found = index.search(query, k, hybrid=hybrid, lexical=lexical, weight=weight)
        return [hit.id for hit in found]

    return score_search(find, test, k)


def score_search(
    find: Callable[[str], Sequence[str]], test: RetrievalSet, k: int
) -> RetrievalScores:
    """The scores of anything that finds ids for a query, best first."""
    asked = [name for name in test.queries if any(test.relevant.get(name, {}).values())]
    gains, shares = [], []
    for name in asked:
        found = find(test.queries[name])
        gains.append(ndcg(found, test.relevant[name], k))
        shares.append(recall(found, test.relevant[name], k))
    total = len(test.queries)
    return RetrievalScores(mean(np.array(gains), total), mean(np.array(shares), total))


def ndcg(found: Sequence[str], relevant: Judgements, k: int) -> float:
    """Normalised discounted cumulative gain of the first k."""
    gains = [relevant.get(name, 0.0) for name in dict.fromkeys(found[:k])]
    return _discounted(gains) / _discounted(sorted(relevant.values(), reverse=True)[:k])


def recall(found: Sequence[str], relevant: Judgements, k: int) -> float:
    """The share of what is worth finding that is among the first k."""
    wanted = {name for name, gain in relevant.items() if gain > 0}
    return len(wanted & {*found[:k]}) / len(wanted)


def load_beir(folder: str | Path, split: str = "test") -> RetrievalSet:
    """A test in BEIR's layout: queries.jsonl (`_id`, `text`) and qrels/SPLIT.tsv.

    The split may also stand in the names: queries_SPLIT.jsonl, qrels_SPLIT.tsv.
    """
    at = Path(folder)
    questions = _first(at, f"queries_{split}.jsonl", "queries.jsonl")
    judged = _first(at, f"qrels_{split}.tsv", f"qrels/{split}.tsv")
    relevant: dict[str, dict[str, float]] = {}
    rows = TableReader(judged, "score", separator="\t").rows()
    next(rows)
    for number, row, _ in rows:
        try:
            query, text, gain = row
            relevant.setdefault(query, {})[text] = float(gain)
        except ValueError as error:
            raise InvalidFileError(
                f"{judged}:{number}: not a query, a text and a number"
            ) from error
    queries = {}
    for number, value, _ in JsonLinesReader(questions, "text").objects():
        try:
            if str(value["_id"]) in relevant:
                queries[str(value["_id"])] = str(value["text"])
        except (KeyError, TypeError) as error:
            raise InvalidFileError(f"{questions}:{number}: there is no '_id' and 'text'") from error
    if not queries:
        raise InvalidArgumentError(f"{questions} has no query of {judged}")
    return RetrievalSet(queries, relevant)


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _first(folder: Path, *names: str) -> Path:
    for name in names:
        for path in (folder / name, folder / f"{name}.gz"):
            if path.is_file():
                return path
    raise InvalidFileError(f"{folder} holds neither {' nor '.join(names)}")
