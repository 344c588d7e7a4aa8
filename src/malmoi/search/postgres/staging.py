"""Vectors of a new model beside those of an index, and the switch to them in one transaction."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b

from psycopg import sql
from psycopg.types.json import Json

from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import Reporter
from malmoi.search.fingerprint import expect_same_model
from malmoi.search.postgres.learning import learn_table_weight
from malmoi.search.postgres.schema.database import Database, PgConnection
from malmoi.search.postgres.schema.table_state import (
    TableState,
    header_of,
    read_state,
    state_from,
    write_state,
)
from malmoi.search.postgres.schema.tables import Tables, create_vectors
from malmoi.search.postgres.storing import copy_rows, passage_rows
from malmoi.search.postgres.vector_index import choose_ef_search, create_hnsw, fitting_kind
from malmoi.search.storage.passage_offsets import EmbeddedPassages
from malmoi.search.storage.state import EncoderFingerprint, State


@dataclass
class StagedVectors:
    """The vectors of a target model for the texts of a source; `embed` makes those of rows."""

    database: Database
    source: TableState
    target: State
    embed: Callable[[Sequence[int], Sequence[str]], list[EmbeddedPassages]] | None = None

    @property
    def tables(self) -> Tables:
        """The tables of the index."""
        return Tables(self.database.address)

    @property
    def generation(self) -> int:
        """The generation of the target."""
        return self.source.generation + 1

    def count(self) -> int:
        """How many texts have a vector of the target."""
        statement = sql.SQL("SELECT count(DISTINCT row) FROM {}").format(self._vectors)
        with self.database.connection() as connection:
            return int((connection.execute(statement).fetchone() or (0,))[0])

    def missing(
        self, after: int, limit: int, connection: PgConnection | None = None
    ) -> tuple[list[int], list[str]]:
        """The next rows without a vector of the target, and their texts."""
        if connection is None:
            with self.database.connection() as own:
                return self.missing(after, limit, own)
        statement = sql.SQL(
            "SELECT t.row, t.text FROM {} t WHERE t.row > %s AND NOT EXISTS"
            " (SELECT FROM {} v WHERE v.row = t.row) ORDER BY t.row LIMIT %s"
        ).format(self.tables.texts, self._vectors)
        read = connection.execute(statement, [after, limit]).fetchall()
        return [row for row, _ in read], [text for _, text in read]

    def add(
        self, rows: Sequence[int], texts: Sequence[str], connection: PgConnection | None = None
    ) -> int:
        """Embed and commit the vectors of rows; return how many rows."""
        if self.embed is None:
            raise TypeError("there is nothing to embed with")
        embedded = self.embed(rows, texts)
        if connection is None:
            with self.database.transaction() as own:
                copy_rows(own, self._vectors, passage_rows(rows, embedded, self.target.dim))
        else:
            copy_rows(connection, self._vectors, passage_rows(rows, embedded, self.target.dim))
        return len(rows)

    def set_probe(self, probe: EncoderFingerprint | None) -> None:
        """Keep the fingerprint of the target's encoder, by which a next run knows it."""
        self.target = replace(self.target, probe=probe)
        with self.database.transaction() as connection:
            _write_staged(connection, self.tables, self.target)

    @property
    def _vectors(self) -> sql.Identifier:
        return self.tables.vectors(self.generation)


def staged_state(database: Database) -> State | None:
    """The target of an interrupted run."""
    with database.connection() as connection:
        statement = sql.SQL("SELECT staged FROM {}").format(Tables(database.address).meta)
        (header,) = connection.execute(statement).fetchone() or (None,)
    return state_from(header) if header else None


def start_staged(database: Database, source: TableState, target: State) -> StagedVectors:
    """An empty table for the vectors of a target; that of an earlier run is dropped."""
    tables = Tables(database.address)
    with database.transaction() as connection:
        _drop(connection, tables, source.generation + 1)
        create_vectors(connection, tables, source.generation + 1, target.dim)
        _write_staged(connection, tables, target)
    return StagedVectors(database, source, target)


def drop_staged(database: Database) -> None:
    """Remove the vectors of an interrupted run."""
    tables = Tables(database.address)
    with database.transaction() as connection:
        state = read_state(connection, tables.meta, lock=True)
        _drop(connection, tables, state.generation + 1)
        _write_staged(connection, tables, None)


def switch(staged: StagedVectors, encoder: Encoder, reporter: Reporter) -> TableState:
    """Make the staged vectors those of the index, in one transaction."""
    tables, source, target, generation = (
        staged.tables, staged.source, staged.target, staged.generation)  # fmt: skip
    fusion, hnsw = source.fusion, None
    if source.hnsw:
        kind = fitting_kind(source.hnsw[0], target.dim, reporter)
        with staged.database.transaction() as connection:
            create_hnsw(connection, tables, generation, kind, target.dim)
            hnsw = kind, choose_ef_search(connection, tables, generation, kind, target.dim)
    with staged.database.transaction() as connection:
        now = read_state(connection, tables.meta, lock=True)
        expect_same_model(now, source)
        _catch_up(connection, staged)
        count = sql.SQL("SELECT count(*) FROM {}").format(tables.vectors(generation))
        known = {name: getattr(target, name) for name in (
            "dim", "model", "probe", "prompts", "passages", "translation")}  # fmt: skip
        (passages,) = connection.execute(count).fetchone() or (0,)
        state = replace(now, **known, generation=generation, hnsw=hnsw, passage_count=passages)
        if target.translation is None and state.texts:
            fusion = learn_table_weight(connection, tables, state, encoder)
        connection.execute(sql.SQL(COUNT_PASSAGES).format(tables.texts, tables.vectors(generation)))
        _write_staged(connection, tables, None)
        connection.execute(sql.SQL("DROP TABLE {}").format(tables.vectors(source.generation)))
        return write_state(connection, tables.meta, replace(state, fusion=fusion))


@contextmanager
def exclusive(database: Database) -> Iterator[None]:
    """Hold the lock of changes of the model; raises if another process holds it."""
    name = f"reindex {database.address.name}".encode()
    number = int.from_bytes(blake2b(name, digest_size=8).digest(), signed=True)
    with database.connection() as connection:
        if connection.execute("SELECT pg_try_advisory_lock(%s)", [number]).fetchone() != (True,):
            raise InvalidArgumentError(
                f"another process is changing the model of {database.address}: wait for it"
            )
        yield
        connection.execute("SELECT pg_advisory_unlock(%s)", [number])


def _catch_up(connection: PgConnection, staged: StagedVectors) -> None:
    """Follow what others have written and deleted since."""
    gone = sql.SQL(
        "DELETE FROM {} v WHERE NOT EXISTS (SELECT FROM {} t WHERE t.row = v.row)"
    ).format(staged.tables.vectors(staged.generation), staged.tables.texts)
    connection.execute(gone)
    rows, texts = staged.missing(-1, BATCH_TEXTS, connection)
    while rows:
        staged.add(rows, texts, connection)
        rows, texts = staged.missing(rows[-1], BATCH_TEXTS, connection)


def _drop(connection: PgConnection, tables: Tables, generation: int) -> None:
    connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(tables.vectors(generation)))


def _write_staged(connection: PgConnection, tables: Tables, target: State | None) -> None:
    connection.execute(
        sql.SQL("UPDATE {} SET staged = %s").format(tables.meta),
        [Json(header_of(target)) if target else None],
    )


BATCH_TEXTS = 512
COUNT_PASSAGES = """UPDATE {} t SET passages = v.n FROM
    (SELECT row, count(*) AS n FROM {} GROUP BY row) v WHERE v.row = t.row AND t.passages <> v.n"""
