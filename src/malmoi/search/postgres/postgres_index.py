"""PostgresIndex: an index in a PostgreSQL database with pgvector.

Each search reads one snapshot of the tables, and each change is one transaction, so that any
number of processes can search and write at once. An index that is open follows the changes of
others, a change of its model included.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from psycopg import sql

from malmoi.arguments import expect_path
from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.reporting.reporter import Reporter
from malmoi.search.fingerprint import is_same_model
from malmoi.search.index import Index, StaleStateError
from malmoi.search.postgres.binary_rows import word_key
from malmoi.search.postgres.field_values import check_storable
from malmoi.search.postgres.reading import (
    all_rows,
    embedded_rows,
    entries_of,
    entry_at,
    rows_of,
    spread_of,
    texts_of,
)
from malmoi.search.postgres.schema.database import Database, PgConnection
from malmoi.search.postgres.schema.table_state import TableState, read_state, write_state
from malmoi.search.postgres.schema.tables import Tables, exists
from malmoi.search.postgres.statements import SearchSql
from malmoi.search.postgres.storing import remove
from malmoi.search.postgres.vector_index import set_ef_search
from malmoi.search.postgres.writer import PostgresWriter
from malmoi.search.querying.hits import Hit
from malmoi.search.querying.query import IndexQuery
from malmoi.search.storage.address import PostgresAddress
from malmoi.search.storage.entry import Entry
from malmoi.search.storage.folder import Folder
from malmoi.search.storage.segment import embedded_segment
from malmoi.search.storage.state import State, with_segment
from malmoi.vectors import Vectors, l2_normalize


class PostgresIndex(Index):
    """Texts in a database."""

    state: TableState

    def __init__(self, address: PostgresAddress, encoder: Encoder | None = None) -> None:
        self.address, self.tables, self.database = address, Tables(address), Database(address)
        with self.database.connection() as connection:
            if not exists(connection, self.tables):
                raise InvalidFileError(f"{address} does not exist")
            self.state = read_state(connection, self.tables.meta)
        super().__init__(encoder)

    @property
    def name(self) -> str:
        """The name of its table."""
        return self.address.name

    @property
    def vectors(self) -> Vectors:
        """The vectors of all texts, with their ids as keys; the mean of a text's passages."""
        ids, means = list[str](), list[Float32Array]()
        for entry, own in self._embedded():
            ids.append(entry.id)
            means.append(own.matrix[0] if len(own.matrix) == 1 else (
                l2_normalize(own.matrix).mean(axis=0)))  # fmt: skip
        return Vectors(ids, np.array(means, np.float32).reshape(-1, self.state.dim))

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of all fields."""
        return self._current().fields

    def entries(self) -> Iterator[Entry]:
        """All texts with their ids and fields, in order."""
        with self.database.connection() as connection:
            yield from entries_of(connection, self.tables)

    def save(self, path: str | Path) -> None:
        """Write a copy of the index to a new folder."""
        folder, state = Folder(expect_path(path)), self._current()
        if folder.exists:
            raise InvalidArgumentError(f"{path} holds an index already: name a new folder")
        with folder.writing():
            entries, embedded = zip(*self._embedded(), strict=True) if state.texts else ((), ())
            plain = State(state.analyser, state.dim, state.model, state.probe,
                          prompts=state.prompts, passages=state.passages, fusion=state.fusion,
                          translation=state.translation)  # fmt: skip
            if entries:
                segment = embedded_segment(entries, embedded, state.analyser)
                plain = replace(with_segment(plain, segment), fusion=state.fusion)
            folder.commit(plain)

    def describe(self) -> dict[str, Any]:
        """Describe the index."""
        state = self._current()
        search = f"approximate, HNSW of kind {state.hnsw[0]}" if state.hnsw else "exact"
        tables = (self.tables.texts, self.tables.words, self.tables.meta,
                  self.tables.vectors(state.generation))  # fmt: skip
        with self.database.connection() as connection:
            size = sum(_size(connection, table) for table in tables)
        facts: dict[str, Any] = {"format": "malmoi index in PostgreSQL", "table": self.name}
        facts |= self._facts(state.passage_count, "BM25", search)
        if state.hnsw:
            facts["ef_search"] = state.hnsw[1]
        return facts | {"generation": state.generation, "bytes": size}

    def close(self) -> None:
        """Close the connections; the index opens others if it is used again."""
        self.database.close()

    def __len__(self) -> int:
        return self._current().texts

    def _current(self) -> TableState:
        """The state, read again if others have changed the index."""
        try:
            return self._read()
        except StaleStateError:  # the server was restarted
            return self._read()

    def _read(self) -> TableState:
        with self.database.connection() as connection:
            statement = sql.SQL("SELECT version FROM {}").format(self.tables.meta)
            if connection.execute(statement).fetchone() == (self.state.version,):
                return self.state
            return self._follow(read_state(connection, self.tables.meta))

    def _follow(self, state: TableState) -> TableState:
        if not is_same_model(state, self.state):
            self._encoder = None  # `reindex` has changed the model: load the new one
        self.state = state
        return state

    def _hits(self, state: State, query: IndexQuery) -> list[Hit]:
        if not isinstance(state, TableState):  # what `_current` returned
            raise TypeError("the state is not that of a table")
        if query.words is None and query.direction is None:
            return []
        with self.database.connection() as connection:
            if query.weight is not None and "spread" not in state.__dict__:
                state.__dict__["spread"] = spread_of(connection, self.tables, state)
            if state.hnsw and not query.exact and query.direction is not None:
                set_ef_search(connection, max(state.hnsw[1], min(1000, query.k)))
                hits = self._run(connection, state, query, approximate=True)
                if len(hits) == min(query.k, state.texts):
                    return hits
            return self._run(connection, state, query, approximate=False)

    def _run(
        self, connection: PgConnection, state: TableState, query: IndexQuery, *, approximate: bool
    ) -> list[Hit]:
        statement, values = SearchSql(self.tables, state, query, approximate).statement()
        with connection.cursor(binary=True) as cursor:
            return [
                Hit(id, score, text, fields, None if first is None else (first, last))
                for score, id, text, fields, first, last in cursor.execute(statement, values)
            ]

    def _add(self, entries: Sequence[Entry], reporter: Reporter) -> None:
        check_storable(entries)
        writer = PostgresWriter(self._current(), self.encoder, self.database)
        writer.embed(entries, reporter=reporter)
        self._follow(writer.finish())

    def _delete(self, ids: Sequence[str]) -> int:
        with self.database.transaction() as connection:
            state = read_state(connection, self.tables.meta, lock=True)
            rows = rows_of(connection, self.tables, ids)
            left = remove(connection, self.tables, state, list(set(rows.values())))
            left = write_state(connection, self.tables.meta, left)
        self._follow(left)
        return state.texts - left.texts

    def _entry(self, id: str) -> Entry | None:
        with self.database.connection() as connection:
            row = rows_of(connection, self.tables, [id]).get(id)
            return None if row is None else entry_at(connection, self.tables, row)

    def _first_vector(self, id: str) -> Float32Array | None:
        state = self.state
        with self.database.connection() as connection:
            row = rows_of(connection, self.tables, [id]).get(id)
            if row is None:
                return None
            own = embedded_rows(connection, self.tables, state.generation, [row])[row]
            first: Float32Array = own.matrix[0]
            return first

    def _knows_any(self, words: Sequence[str]) -> bool:
        statement = sql.SQL("SELECT EXISTS (SELECT FROM {} WHERE word = ANY(%s))").format(
            self.tables.words
        )
        with self.database.connection() as connection:
            keys = [word_key(word).decode() for word in words]
            return connection.execute(statement, [keys]).fetchone() == (True,)

    def rows(self, connection: PgConnection) -> Int64Array:
        """The rows of all texts, in order."""
        return all_rows(connection, self.tables)

    def texts_of(self, connection: PgConnection, rows: Sequence[int]) -> dict[int, str]:
        """The texts of rows."""
        return texts_of(connection, self.tables, rows)

    def _embedded(self) -> Iterator[tuple[Entry, Any]]:
        """All texts with their vectors, in order."""
        with self.database.transaction(snapshot=True) as connection:
            state = read_state(connection, self.tables.meta)
            rows = all_rows(connection, self.tables).tolist()
            vectors = embedded_rows(connection, self.tables, state.generation, rows)
            yield from zip(entries_of(connection, self.tables),
                           (vectors[row] for row in rows), strict=True)  # fmt: skip


def _size(connection: PgConnection, table: sql.Identifier) -> int:
    """The bytes of a table with its database indexes."""
    name = table.as_string(connection)
    row = connection.execute("SELECT pg_total_relation_size(to_regclass(%s))", [name]).fetchone()
    return int(row[0] or 0) if row else 0
