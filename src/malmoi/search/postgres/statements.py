"""One SQL statement per search: by vector, by words (BM25), or by both.

The arithmetic is that of an index in a folder: BM25 in double precision, scores rounded to single
precision, equal ones in the order of rows. Word weights and mean length are those of the snapshot
that the statement reads.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from psycopg import sql

from malmoi.arrays import Float32Array
from malmoi.search.postgres.binary_rows import word_key
from malmoi.search.postgres.conditions import Clause, where_clause
from malmoi.search.postgres.schema.table_state import TableState
from malmoi.search.postgres.schema.tables import Tables
from malmoi.search.querying.bm25 import K1, B
from malmoi.search.querying.hybrid import MIN_CANDIDATES
from malmoi.search.querying.query import IndexQuery
from malmoi.search.storage.fusion import cosine_scale

OVERSAMPLE = 4  # candidates of a binary index per result, which full vectors rank again
EMPTY_SIDE = sql.SQL("SELECT NULL::bigint AS row, NULL::real AS score WHERE false")


@dataclass
class Statement:
    """Common table expressions in order, and the parameters of all of them."""

    parts: list[sql.Composable] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def add(self, name: str, body: sql.Composable, *values: Any) -> None:
        """Add an expression that later ones refer to by name."""
        self.parts.append(sql.SQL("{} AS MATERIALIZED ({})").format(sql.Identifier(name), body))
        self.values += values


@dataclass(frozen=True)
class SearchSql:
    """Makes the statement of a query against the tables of an index."""

    tables: Tables
    state: TableState
    query: IndexQuery
    approximate: bool

    def statement(self) -> tuple[sql.Composed, list[Any]]:
        """The statement: score, id, text, fields and span of the best texts, best first."""
        query, made = self.query, Statement()
        where = where_clause(query.conditions)
        if query.direction is not None:
            made.add("query", sql.SQL("SELECT %s::text::vector AS v"), vector_text(query.direction))
        if query.weight is not None:
            self._hybrid(made, where, query.weight)
        elif query.words is not None:
            self._words(made)
            self._named(made, "ranked", where, query.k)
        else:
            self._near(made, "ranked", where, query.k)
        return self._hits(made), made.values

    def _near(self, made: Statement, name: str, where: Clause | None, k: int) -> None:
        """The texts whose best passage is nearest."""
        condition, values = where or (sql.SQL("true"), [])
        source = sql.SQL("{} p").format(self._vectors)
        if where:
            source = sql.SQL("{} JOIN {} t ON t.row = p.row").format(source, self.tables.texts)
        every = sql.SQL("SELECT p.row, {} AS score FROM {} WHERE {}").format(
            COSINE, source, condition
        )
        if self.approximate:
            every = self._nearest_passages(every, k)
        if self.state.passage_count > self.state.texts:
            every = sql.SQL("SELECT row, max(score) AS score FROM ({}) e GROUP BY row").format(
                every
            )
        made.add(
            name,
            sql.SQL("SELECT row, score FROM ({}) e ORDER BY score DESC, row LIMIT {}").format(
                every, sql.Literal(k)
            ),
            *values,
        )

    def _nearest_passages(self, every: sql.Composed, k: int) -> sql.Composed:
        """The nearest passages by the vector index, which orders by a distance of its own."""
        kind, _ = self.state.hnsw or ("vector", 0)
        per_text = -(-self.state.passage_count // max(1, self.state.texts))
        depth = k * (1 if per_text == 1 else OVERSAMPLE * per_text)
        if kind == "binary":
            depth *= OVERSAMPLE
        distance = distance_sql(kind, self.state.dim, sql.SQL("p.embedding"), QUERY_VECTOR)
        return sql.SQL("{} ORDER BY {} LIMIT {}").format(every, distance, sql.Literal(depth))

    def _words(self, made: Statement) -> None:
        """The BM25 scores of all texts that have a word of the query."""
        times: dict[str, int] = {}
        for word in self.query.words or ():
            key = word_key(word).decode()
            times[key] = times.get(key, 0) + 1
        made.add(
            "wanted",
            sql.SQL("SELECT * FROM unnest(%s::text[], %s::float8[]) AS q(word, times)"),
            list(times),
            list(map(float, times.values())),
        )
        made.add("stats", sql.SQL(STATS).format(self.tables.meta))
        made.add("postings", sql.SQL(POSTINGS).format(self.tables.words))
        made.add("weights", sql.SQL(WEIGHTS))
        made.add("matched", sql.SQL(MATCHED), K1, 1 - B, B)

    def _named(self, made: Statement, name: str, where: Clause | None, k: int) -> None:
        """The texts with the highest BM25."""
        condition, values = where or (sql.SQL("true"), [])
        join = sql.SQL("JOIN {} t ON t.row = m.row").format(self.tables.texts) if where else (
            sql.SQL(""))  # fmt: skip
        body = sql.SQL(
            "SELECT m.row, m.score FROM matched m {} WHERE {} AND m.score > 0"
            " ORDER BY m.score DESC, m.row LIMIT {}"
        ).format(join, condition, sql.Literal(k))
        made.add(name, body, *values)

    def _hybrid(self, made: Statement, where: Clause | None, weight: float) -> None:
        """Candidates of both sides, each with both of its scores."""
        depth, has_vector = max(self.query.k, MIN_CANDIDATES), self.query.direction is not None
        self._words(made)
        if weight < 1 and has_vector:
            self._near(made, "near", where, depth)
        else:
            made.add("near", EMPTY_SIDE)
        if weight > 0:
            self._named(made, "named", where, depth)
        else:
            made.add("named", EMPTY_SIDE)
        cosine = sql.SQL("(SELECT max({}) FROM {} p WHERE p.row = c.row)").format(
            COSINE, self._vectors
        )
        made.add(
            "ranked",
            sql.SQL(FUSED).format(cosine if has_vector else sql.SQL("0::real"),
                                  sql.Literal(self.query.k)),
            float(cosine_scale(weight, self.state.spread)),
            float(np.float32(weight)),
        )  # fmt: skip

    def _hits(self, made: Statement) -> sql.Composed:
        """The texts of the ranked rows, and the best passage of those that have several."""
        span: sql.Composable = sql.SQL(
            "LEFT JOIN (SELECT NULL::int AS first, NULL::int AS last) s ON true"
        )
        if self.query.direction is not None and self.state.passage_count > self.state.texts:
            span = sql.SQL(
                "LEFT JOIN LATERAL (SELECT p.first, p.last FROM {} p WHERE p.row = r.row"
                " AND t.passages > 1 ORDER BY {} DESC, p.part LIMIT 1) s ON true"
            ).format(self._vectors, COSINE)
        return sql.SQL(
            "WITH {} SELECT r.score, t.id, t.text, t.fields, s.first, s.last"
            " FROM ranked r JOIN {} t ON t.row = r.row {} ORDER BY r.score DESC, r.row"
        ).format(sql.SQL(", ").join(made.parts), self.tables.texts, span)

    @property
    def _vectors(self) -> sql.Identifier:
        return self.tables.vectors(self.state.generation)


# The cosine of a passage with the query; that of a vector of zeros, which has none, is 0.
QUERY_VECTOR = sql.SQL("(SELECT v FROM query)")
COSINE = sql.SQL("coalesce(nullif(1 - (p.embedding <=> {}), 'NaN'), 0)::real").format(QUERY_VECTOR)
STATS = "SELECT texts::float8 AS texts, words::float8 / greatest(texts, 1) AS mean FROM {}"
POSTINGS = "SELECT w.word, w.row, w.count, w.length FROM {} w JOIN wanted USING (word)"
WEIGHTS = """
    SELECT q.word, q.times * ln(1 + (s.texts - coalesce(h.n, 0) + 0.5::float8)
                                    / (coalesce(h.n, 0) + 0.5::float8)) AS weight
    FROM wanted q CROSS JOIN stats s
    LEFT JOIN (SELECT word, count(*)::float8 AS n FROM postings GROUP BY word) h USING (word)"""
MATCHED = """
    SELECT p.row, sum(w.weight * p.count / (p.count
           + %s::float8 * (%s::float8 + %s::float8 * p.length * (1 / s.mean))))::real AS score
    FROM postings p JOIN weights w USING (word) CROSS JOIN stats s GROUP BY p.row"""
FUSED = """
    SELECT c.row, %s::real * coalesce({}, 0::real)
                  + %s::real * (coalesce(m.score, 0::real) / h.highest) AS score
    FROM (SELECT row FROM near UNION SELECT row FROM named) c
    LEFT JOIN matched m USING (row)
    CROSS JOIN (SELECT coalesce(nullif(sum(weight), 0), 1)::real AS highest FROM weights) h
    ORDER BY score DESC, c.row LIMIT {}"""


def vector_text(vector: Float32Array) -> str:
    """A vector as pgvector reads it; each number is exact."""
    return f"[{','.join(map(repr, vector.tolist()))}]"


def distance_sql(kind: str, dim: int, one: sql.Composable, two: sql.Composable) -> sql.Composable:
    """The distance that a vector index of a kind orders by."""
    if kind == "vector":
        return sql.SQL("{} <=> {}").format(one, two)
    if kind == "halfvec":
        return sql.SQL("{}::halfvec({d}) <=> {}::halfvec({d})").format(one, two, d=sql.Literal(dim))
    return sql.SQL("binary_quantize({})::bit({d}) <~> binary_quantize({})::bit({d})").format(
        one, two, d=sql.Literal(dim)
    )
