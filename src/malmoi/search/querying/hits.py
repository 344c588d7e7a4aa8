"""Search results: the texts of the best rows, and the best passage of long texts."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError
from malmoi.extras import require
from malmoi.reporting.reporter import Reporter
from malmoi.rerank.reranker import Reranker
from malmoi.search.querying.ranking import RankedRows
from malmoi.search.storage.columns import Fields
from malmoi.search.storage.segment import Segment
from malmoi.search.storage.state import State
from malmoi.table import Table, TableCell, TabularList
from malmoi.vectors import l2_normalize

CharacterSpan = tuple[int, int]  # characters
MAX_ROWS = 50  # of a table


class Hit(NamedTuple):  # a frozen dataclass takes twice as long to create
    """A search result; the score is a cosine, BM25, or a weighted mean of both.

    `span` is the best passage in characters of the text; None if the text is one passage, or for a
    lexical search. After reranking, the score is that of the reranker, and `retrieval_score` the
    one before.
    """

    id: str
    score: float
    text: str
    fields: Fields
    span: CharacterSpan | None = None
    retrieval_score: float | None = None

    @property
    def passage(self) -> str:
        """The best passage, or else the text."""
        return self.text if self.span is None else self.text[slice(*self.span)]


class Hits(TabularList[Hit]):
    """Search results, best first; `weight` is the weight of words in a hybrid search."""

    def __init__(self, hits: Iterable[Hit] = (), weight: float | None = None) -> None:
        super().__init__(hits)
        self.weight = weight

    def to_arrow(self) -> Any:
        """The hits as a table of Arrow, which pandas, Polars and DuckDB read.

        Returns:
            A `pyarrow.Table` with the columns id, score, text, passage and, if there are any,
            retrieval_score and fields, a struct.

        Raises:
            InvalidArgumentError: A field has values of several kinds, which a column cannot hold.
            MissingDependencyError: pyarrow is not installed.
        """
        arrow = require("pyarrow", extra="parquet")
        columns: dict[str, Any] = {
            "id": arrow.array([hit.id for hit in self], arrow.string()),
            "score": arrow.array([hit.score for hit in self], arrow.float64()),
            "text": arrow.array([hit.text for hit in self], arrow.string()),
            "passage": arrow.array([hit.passage for hit in self], arrow.string()),
        }
        if any(hit.retrieval_score is not None for hit in self):
            columns["retrieval_score"] = arrow.array([hit.retrieval_score for hit in self])
        if any(hit.fields for hit in self):
            try:
                columns["fields"] = arrow.array([dict(hit.fields) for hit in self])
            except arrow.ArrowException as error:
                raise InvalidArgumentError(
                    f"a field of the hits has values of several kinds: {error}"
                ) from error
        return arrow.table(columns)

    def _table(self) -> Table:
        names = list(dict.fromkeys(name for hit in self[:MAX_ROWS] for name in hit.fields))
        rows = [
            [hit.id, hit.score, hit.passage, *(_shown(hit.fields.get(name)) for name in names)]
            for hit in self[:MAX_ROWS]
        ]
        return Table(f"{len(self):,} hits", ["id", "score", "text", *names], rows, len(self))


def make_hits(state: State, ranking: RankedRows, direction: Float32Array | None) -> list[Hit]:
    """The texts of ranked rows; `direction` ranks their passages."""
    rows, scores = ranking.rows.tolist(), ranking.scores.tolist()
    if len(state.segments) == 1 and state.segments[0].passages is None:
        ids, texts, fields = state.segments[0].known(rows)
        return list(map(Hit, ids, scores, texts, fields))
    hits = list[Hit]()
    for row, score in zip(rows, scores, strict=True):
        segment, at = state.at(row)
        entry = segment.entry(at)
        span = best_passage(segment, at, direction)
        hits.append(Hit(entry.id, score, entry.text, entry.fields, span))
    return hits


def rerank_hits(reranker: Reranker, query: str, hits: Hits, k: int, reporter: Reporter) -> Hits:
    """The k best hits by a reranker, which reads the best passage of a long text."""
    ranked = reranker.rank(query, [hit.passage for hit in hits], k, reporter=reporter)
    return reordered(hits, [(document.index, document.score) for document in ranked])


def reordered(hits: Hits, ranked: Iterable[tuple[int, float]]) -> Hits:
    """The hits of some indices in that order, with new scores; the scores before are kept."""
    chosen = [(hits[index], score) for index, score in ranked]
    return Hits(
        [hit._replace(score=score, retrieval_score=hit.score) for hit, score in chosen],
        hits.weight,
    )


def best_passage(
    segment: Segment, row: int, direction: Float32Array | None
) -> CharacterSpan | None:
    """The span of a text's passage nearest to a direction; None if it has one passage."""
    if segment.passages is None or direction is None:
        return None
    own = segment.embedded(row)
    if len(own.spans) == 1:
        return None
    start, stop = own.spans[int(np.argmax(l2_normalize(own.matrix) @ direction))].tolist()
    return start, stop


def _shown(value: object) -> TableCell:
    """A field as a cell; the year 2020 is not a number with a comma."""
    return None if value is None else str(value)
