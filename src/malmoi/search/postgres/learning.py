"""Learns the weight of words in a hybrid search from an index in a database."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from psycopg import sql

from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.protocol import Encoder
from malmoi.nearest.top_k import safe_norms
from malmoi.search.learn_weight import drawn_texts, weight_of
from malmoi.search.postgres.binary_rows import word_key
from malmoi.search.postgres.reading import all_rows, embedded_rows, spread_of, texts_of
from malmoi.search.postgres.schema.database import PgConnection
from malmoi.search.postgres.schema.table_state import TableState
from malmoi.search.postgres.schema.tables import Tables
from malmoi.search.querying.bm25 import weighted_scores, weights_of
from malmoi.search.storage.fusion import Fusion
from malmoi.search.storage.postings import Postings, count_words
from malmoi.vectors import row_norms


class TableTexts:
    """Some rows of a table, as the texts that pseudo-queries rank.

    Their vectors and words are read once; how many texts have a word is counted in the database.
    """

    def __init__(
        self, connection: PgConnection, tables: Tables, state: TableState, rows: Int64Array
    ) -> None:
        self.connection, self.tables, self.state, self.rows = connection, tables, state, rows
        embedded = embedded_rows(connection, tables, state.generation, rows.tolist())
        own = [embedded[row] for row in rows.tolist()]
        self.matrix = np.concatenate([each.matrix for each in own])
        counts = [len(each.spans) for each in own]
        self.starts = np.cumsum([0, *counts[:-1]])
        self.postings = self._postings()
        self._having: dict[str, int] = {}

    @property
    def mean(self) -> float:
        """The mean number of words per text."""
        return self.state.words / max(1, self.state.texts)

    def texts(self, positions: Int64Array) -> Sequence[str]:
        """Some of the texts."""
        wanted = self.rows[positions].tolist()
        texts = texts_of(self.connection, self.tables, wanted)
        return [texts[row] for row in wanted]

    def cosines(self, directions: Float32Array) -> Float32Array:
        """The cosines of all texts with unit directions, [directions, texts]."""
        near = directions @ self.matrix.T
        near /= safe_norms(row_norms(self.matrix))
        best: Float32Array = np.maximum.reduceat(near, self.starts, axis=1)
        return best

    def weights(self, words: Sequence[str]) -> Mapping[str, float]:
        """The weights of words in BM25."""
        keys = [word_key(word).decode() for word in words]
        new = [key for key in dict.fromkeys(keys) if key not in self._having]
        statement = sql.SQL(
            "SELECT word, count(*) FROM {} WHERE word = ANY(%s) GROUP BY word"
        ).format(self.tables.words)
        counted: dict[str, int] = {}
        if new:
            counted = dict(self.connection.execute(statement, [new]).fetchall())
        self._having |= {key: counted.get(key, 0) for key in new}
        return weights_of(keys, self._having, self.state.texts)

    def scores(self, weights: Mapping[str, float]) -> Float32Array:
        """The BM25 scores of all texts."""
        return weighted_scores([self.postings], weights, self.mean)

    def _postings(self) -> Postings:
        """The words of the texts, as they are stored."""
        statement = sql.SQL("SELECT row, word, count FROM {} WHERE row = ANY(%s)").format(
            self.tables.words
        )
        words: dict[int, list[str]] = {row: [] for row in self.rows.tolist()}
        for row, word, count in self.connection.execute(statement, [self.rows.tolist()]):
            words[row] += [word] * count
        return count_words(words.values())


def with_table_weight(
    connection: PgConnection, tables: Tables, state: TableState, encoder: Encoder
) -> TableState:
    """The state with a hybrid weight: its own, or a new one if the index has changed much."""
    if state.texts == 0:
        return replace(state, fusion=None)
    if state.fusion and not state.fusion.is_stale:
        return state
    return replace(state, fusion=learn_table_weight(connection, tables, state, encoder))


def learn_table_weight(
    connection: PgConnection, tables: Tables, state: TableState, encoder: Encoder
) -> Fusion:
    """Make pseudo-queries and choose the weight that ranks their texts best."""
    state.__dict__["spread"] = spread_of(connection, tables, state)
    ranked, own = drawn_texts(state.texts)
    rows = all_rows(connection, tables)[ranked]
    return weight_of(TableTexts(connection, tables, state, rows), own, state, encoder)
