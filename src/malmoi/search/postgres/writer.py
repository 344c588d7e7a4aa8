"""Writes entries to an index in a database: builds, adds, updates.

A build commits every few seconds, and each commit is one transaction that holds the lock of the
index: others may write at the same time, and a killed writer leaves whole commits.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from psycopg import sql

from malmoi.encode.protocol import Encoder
from malmoi.search.fingerprint import expect_same_model
from malmoi.search.postgres.learning import with_table_weight
from malmoi.search.postgres.schema.database import Database, PgConnection
from malmoi.search.postgres.schema.table_state import TableState, read_state, write_state
from malmoi.search.postgres.schema.tables import (
    Tables,
    create_word_indexes,
    has_word_indexes,
)
from malmoi.search.postgres.storing import Embedded, remove, store
from malmoi.search.storage.state import State
from malmoi.search.writer import EntryWriter

BATCH_ROWS = 20_000  # texts per transaction
ANALYZE_FROM = 1000  # written texts


class PostgresWriter(EntryWriter):
    """Embeds entries and commits them to the tables of an index."""

    state: TableState

    def __init__(self, state: TableState, encoder: Encoder, database: Database) -> None:
        super().__init__(state, encoder)
        self.database, self.tables, self.written = database, Tables(database.address), 0

    @property
    def commits_often(self) -> bool:
        """Whether entries are committed while others are still to be embedded."""
        return True

    def commit(self) -> None:
        """Write the pending entries, if there are any."""
        pending, self._pending = self._pending, []
        self.written += len(pending)
        for start in range(0, len(pending), BATCH_ROWS):
            self.state = write_entries(
                self.database, self.state, pending[start : start + BATCH_ROWS]
            )

    def finish(self, *, removed: Sequence[int] = ()) -> TableState:
        """Delete rows, learn the hybrid weight if it is stale, and commit."""
        self.commit()
        if removed:
            with locked(self.database, self.state) as (connection, state):
                self.state = write_state(
                    connection, self.tables.meta, remove(connection, self.tables, state, removed)
                )
        prepare_queries(self.database, analyze=self.written >= ANALYZE_FROM)
        with self.database.transaction(snapshot=True) as connection:
            state = read_state(connection, self.tables.meta)
            expect_same_model(state, self.state)
            fusion = with_table_weight(connection, self.tables, state, self.encoder).fusion
        if fusion is not state.fusion:  # others may have written meanwhile
            with locked(self.database, state) as (connection, state):
                state = write_state(connection, self.tables.meta, replace(state, fusion=fusion))
        self.state = state
        return state


def prepare_queries(database: Database, *, analyze: bool) -> None:
    """Index the words if they are not, and renew the statistics that queries are planned by."""
    tables = Tables(database.address)
    with database.connection() as connection:
        is_indexed = has_word_indexes(connection, tables)
        state = read_state(connection, tables.meta)
    if not is_indexed:
        with locked(database, state) as (connection, state):  # one writer creates them
            create_word_indexes(connection, tables)
    if analyze:
        with database.connection() as connection:
            for table in (tables.texts, tables.words, tables.vectors(state.generation)):
                connection.execute(sql.SQL("ANALYZE {}").format(table))


@contextmanager
def locked(database: Database, known: State) -> Iterator[tuple[PgConnection, TableState]]:
    """A transaction that holds the write lock of an index, and the state of the index.

    Raises `InvalidArgumentError` if the index is no longer of the model that is known.
    """
    with database.transaction() as connection:
        state = read_state(connection, Tables(database.address).meta, lock=True)
        expect_same_model(state, known)
        yield connection, state


def write_entries(database: Database, known: State, embedded: Embedded) -> TableState:
    """Add entries and replace those of the same ids, in one transaction."""
    tables = Tables(database.address)
    with locked(database, known) as (connection, state):
        state = replace(state, probe=state.probe or known.probe)
        return write_state(connection, tables.meta, store(connection, tables, state, embedded))
