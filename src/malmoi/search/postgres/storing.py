"""Writes texts, vectors and words to the tables of an index, one transaction each.

Texts are copied into a temporary table and upserted by id; a text that is replaced gets a new row
number, as if it were deleted and added. Vectors and words are copied straight into their tables,
since their rows are new.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from psycopg import sql

from malmoi.errors import InvalidArgumentError
from malmoi.search.postgres.binary_rows import (
    HEADER,
    INT4,
    INT8,
    TRAILER,
    column,
    row_of,
    vector_rows,
    word_key,
    word_rows,
)
from malmoi.search.postgres.field_values import fields_as_json, known_fields
from malmoi.search.postgres.schema.database import PgConnection
from malmoi.search.postgres.schema.table_state import TableState
from malmoi.search.postgres.schema.tables import Tables
from malmoi.search.storage.entry import Entry
from malmoi.search.storage.passage_offsets import EmbeddedPassages
from malmoi.search.storage.postings import count_words
from malmoi.search.storage.segment import digests_of
from malmoi.search.storage.state import with_changes

WRITE_BYTES = 1 << 18  # written to the server at once
STAGED = sql.Identifier("malmoi_staged")  # a temporary table
Embedded = Sequence[tuple[Entry, EmbeddedPassages]]


def store(
    connection: PgConnection, tables: Tables, state: TableState, embedded: Embedded
) -> TableState:
    """Add entries and replace those of the same ids; the caller holds the lock of the state."""
    entries = [entry for entry, _ in embedded]
    words = count_words(state.analyser.many([entry.text for entry in entries]))
    lengths = words.lengths.tolist()
    rows = range(state.next_row, state.next_row + len(entries))
    vectors = passage_rows(rows, [own for _, own in embedded], state.dim)
    _stage(connection, tables, state.next_row, embedded, lengths)
    state = _drop_rows(connection, tables, state, sql.SQL("id IN (SELECT id FROM {})").format(
        STAGED))  # fmt: skip
    connection.execute(
        sql.SQL("INSERT INTO {} SELECT * FROM {} ORDER BY row").format(tables.texts, STAGED)
    )
    connection.execute(sql.SQL("DROP TABLE {}").format(STAGED))
    copy_rows(connection, tables.vectors(state.generation), vectors)
    keys = [word_key(word) for word in words.words]
    copy_rows(connection, tables.words, word_rows(words, keys, state.next_row))
    names = {name: None for entry in entries for name in known_fields(entry.fields)}
    return replace(
        state,
        next_row=state.next_row + len(entries),
        texts=state.texts + len(entries),
        words=state.words + sum(lengths),
        passage_count=state.passage_count + sum(len(own.spans) for _, own in embedded),
        names=tuple(dict.fromkeys([*state.names, *names])),
        fusion=with_changes(state.fusion, len(entries)),
    )


def remove(
    connection: PgConnection, tables: Tables, state: TableState, rows: Sequence[int]
) -> TableState:
    """Delete the texts of some rows; the caller holds the lock of the state."""
    where = sql.SQL("row = ANY({}::bigint[])").format(sql.Literal(list(rows)))
    return _drop_rows(connection, tables, state, where)


def copy_rows(connection: PgConnection, table: sql.Identifier, rows: Iterable[bytes]) -> None:
    """Copy rows in binary format into a table."""
    statement = sql.SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(table)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        waiting, size = [HEADER], 0
        for block in rows:
            waiting.append(block)
            size += len(block)
            if size > WRITE_BYTES:
                copy.write(b"".join(waiting))
                waiting, size = [], 0
        copy.write(b"".join([*waiting, TRAILER]))


def _drop_rows(
    connection: PgConnection, tables: Tables, state: TableState, where: sql.Composable
) -> TableState:
    """Delete the texts that meet a condition, with their vectors and words."""
    deleted = connection.execute(
        sql.SQL("DELETE FROM {} WHERE {} RETURNING row, length, passages").format(
            tables.texts, where
        )
    ).fetchall()
    if not deleted:
        return state
    rows = [row for row, _, _ in deleted]
    for table in (tables.words, tables.vectors(state.generation)):
        connection.execute(sql.SQL("DELETE FROM {} WHERE row = ANY(%s)").format(table), [rows])
    return replace(
        state,
        texts=state.texts - len(rows),
        words=state.words - sum(length for _, length, _ in deleted),
        passage_count=state.passage_count - sum(passages for _, _, passages in deleted),
        fusion=with_changes(state.fusion, len(rows)),
    )


def _stage(
    connection: PgConnection,
    tables: Tables,
    first: int,
    embedded: Embedded,
    lengths: Sequence[int],
) -> None:
    """Copy texts into a temporary table with the columns of the table of texts."""
    connection.execute(
        sql.SQL("CREATE TEMPORARY TABLE {} (LIKE {}) ON COMMIT DROP").format(STAGED, tables.texts)
    )
    digests = digests_of(entry for entry, _ in embedded).tobytes()
    rows = (
        row_of(
            (
                column(entry.id.encode()),
                INT8(8, first + i),
                column(entry.text.encode()),
                *map(column, fields_as_json(entry.fields)),
                column(digests[24 * i : 24 * i + 24]),
                INT4(4, lengths[i]),
                INT4(4, len(own.spans)),
            )
        )
        for i, (entry, own) in enumerate(embedded)
    )
    copy_rows(connection, STAGED, rows)


def passage_rows(
    rows: Sequence[int], embedded: Sequence[EmbeddedPassages], dim: int
) -> Iterable[bytes]:
    """The rows of the table of vectors, for the rows of texts."""
    counts = np.array([len(own.spans) for own in embedded], np.int64)
    owners = np.repeat(np.asarray(rows, np.int64), counts)
    parts = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
    matrix = np.concatenate([own.matrix for own in embedded])
    if matrix.shape[1] != dim:
        raise InvalidArgumentError(f"vectors of {matrix.shape[1]} dimensions in an index of"
                                   f" {dim}")  # fmt: skip
    if not np.isfinite(matrix).all():
        raise InvalidArgumentError("the vector of a text holds nan or inf")
    spans = np.concatenate([own.spans for own in embedded])
    return vector_rows(owners, parts, spans, matrix)
