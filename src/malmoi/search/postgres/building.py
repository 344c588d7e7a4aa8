"""Builds and updates indexes in a database, and creates their vector index."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from malmoi.encode.pipeline.prompts import Prompts
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import Reporter
from malmoi.search.fingerprint import check_encoder, check_settings, new_state
from malmoi.search.postgres.field_values import check_storable
from malmoi.search.postgres.postgres_index import PostgresIndex
from malmoi.search.postgres.reading import changes_of
from malmoi.search.postgres.schema.database import Database
from malmoi.search.postgres.schema.table_state import TableState, read_state, write_state
from malmoi.search.postgres.schema.tables import Tables, create_tables, exists
from malmoi.search.postgres.vector_index import (
    choose_ef_search,
    create_hnsw,
    drop_hnsw,
    fitting_kind,
)
from malmoi.search.postgres.writer import BATCH_ROWS, PostgresWriter, analyze, locked, write_entries
from malmoi.search.storage.address import PostgresAddress
from malmoi.search.storage.clusters import APPROXIMATE_FROM
from malmoi.search.storage.entry import Entry
from malmoi.search.storage.passage_offsets import WHOLE, EmbeddedPassages
from malmoi.search.storage.state import State
from malmoi.search.writer import IndexUpdate
from malmoi.vectors import Vectors

CREATION_LOCK = 0x6D616C6D6F69  # "malmoi": held while tables are created


def table_exists(address: PostgresAddress) -> bool:
    """Whether an index exists; raises for a table of the same name that is not an index."""
    with Database(address).connection() as connection:
        return exists(connection, Tables(address))


def build_table(
    address: PostgresAddress,
    encoder: Encoder,
    state: State,
    entries: Sequence[Entry],
    *,
    approximate: bool | None,
    reporter: Reporter,
) -> PostgresIndex:
    """Build a new index over entries."""
    check_storable(entries)
    database = Database(address)
    writer = PostgresWriter(_create(database, state), encoder, database)
    writer.embed(entries, reporter=reporter)
    writer.finish()
    with_hnsw(database, approximate, reporter)
    return PostgresIndex(address, encoder)


def build_table_of_vectors(
    address: PostgresAddress,
    vectors: Vectors,
    state: State,
    entries: Sequence[Entry],
    *,
    approximate: bool | None,
    reporter: Reporter,
) -> PostgresIndex:
    """Build a new index over vectors that are known, one per entry."""
    check_storable(entries)
    database = Database(address)
    _create(database, state)
    progress = reporter.stage("writing texts", "texts")
    for start in range(0, len(entries), BATCH_ROWS):
        part = slice(start, start + BATCH_ROWS)
        matrix = np.ascontiguousarray(vectors.matrix[part], np.float32)
        own = [EmbeddedPassages(row[np.newaxis], WHOLE) for row in matrix]
        write_entries(database, state, list(zip(entries[part], own, strict=True)))
        progress(min(part.stop, len(entries)), len(entries))
    analyze(database)
    with_hnsw(database, approximate, reporter)
    return PostgresIndex(address)


def update_table(
    address: PostgresAddress,
    encoder: Encoder,
    entries: Sequence[Entry],
    *,
    keep: bool,
    passages: bool | None,
    prompts: Prompts | None,
    reporter: Reporter,
) -> IndexUpdate:
    """Make an index hold exactly these entries; create it if it does not exist."""
    check_storable(entries)
    database, tables = Database(address), Tables(address)
    with database.connection() as connection:
        state = read_state(connection, tables.meta) if exists(connection, tables) else None
    if state is None:
        new = new_state(encoder, passages=passages is not False, prompts=prompts)
        state = _create(database, new)
    check_encoder(encoder, state)
    check_settings(state, passages, prompts)
    with database.transaction(snapshot=True) as connection:
        changes = changes_of(connection, tables, state.generation, entries)
    todo = [entry for at, entry in enumerate(entries) if at not in changes.same]
    writer = PostgresWriter(state, encoder, database)
    embedded = writer.embed(todo, known=changes.known, reporter=reporter)
    removed = [] if keep else changes.others
    state = writer.finish(removed=removed)
    with_hnsw(database, None, reporter)
    return IndexUpdate(
        added=len(todo) - len(changes.replaced),
        changed=len(changes.replaced),
        removed=len(removed),
        unchanged=len(changes.same),
        embedded=embedded,
        texts=state.texts,
        passages=state.passage_count,
        weight=state.weight,
    )


def with_hnsw(database: Database, approximate: bool | None, reporter: Reporter) -> TableState:
    """Create the vector index where there are many vectors, or as `approximate` says."""
    address, tables = database.address, Tables(database.address)
    with database.connection() as connection:
        state = read_state(connection, tables.meta)
    if approximate is None:
        approximate = state.hnsw is not None or state.passage_count > APPROXIMATE_FROM
    if approximate == (state.hnsw is not None):
        return state
    with locked(database, state) as (connection, state):
        if not approximate:
            drop_hnsw(connection, tables, state.generation)
            return write_state(connection, tables.meta, replace(state, hnsw=None))
        reporter.note(f"building the vector index of {state.passage_count:,} vectors")
        kind = fitting_kind(address.vector_index, state.dim, reporter)
        create_hnsw(connection, tables, state.generation, kind, state.dim)
        ef_search = choose_ef_search(connection, tables, state.generation, kind, state.dim)
        return write_state(connection, tables.meta, replace(state, hnsw=(kind, ef_search)))


def _create(database: Database, state: State) -> TableState:
    """Create the tables of a new index."""
    tables = Tables(database.address)
    with database.transaction() as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [CREATION_LOCK])
        if exists(connection, tables):
            raise InvalidArgumentError(
                f"{database.address} holds an index already: open_index opens it, update_index"
                " updates it"
            )
        create_tables(connection, tables, state)
        return read_state(connection, tables.meta)
