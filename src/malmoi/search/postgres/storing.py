"""Writes texts, vectors and words to the tables of an index, one transaction each.

Texts are copied into a temporary table and upserted by id; a text that is replaced gets a new row
number, as if it were deleted and added. Vectors and words are copied straight into their tables,
since their rows are new.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from psycopg import sql

from malmoi.errors import InvalidArgumentError, shorten
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
from malmoi.search.postgres.database import Connection
from malmoi.search.postgres.table_state import TableState
from malmoi.search.postgres.tables import Tables
from malmoi.search.querying.filters import as_number
from malmoi.search.storage.columns import Fields, as_json
from malmoi.search.storage.entry import Entry
from malmoi.search.storage.passage_offsets import EmbeddedPassages
from malmoi.search.storage.postings import count_words
from malmoi.search.storage.segment import digests_of
from malmoi.search.storage.state import with_changes
from malmoi.unicode import normalize

MAX_ID_BYTES = 2600  # of a key of a B-tree
STAGED = sql.Identifier("malmoi_staged")  # a temporary table
ESCAPED_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # in JSON
NO_FIELDS = (b"{}", b"\x01{}")

Embedded = Sequence[tuple[Entry, EmbeddedPassages]]


def store(
    connection: Connection, tables: Tables, state: TableState, embedded: Embedded
) -> TableState:
    """Add entries and replace those of the same ids; the caller holds the lock of the state."""
    entries = [entry for entry, _ in embedded]
    words = count_words(state.analyser.many([entry.text for entry in entries]))
    lengths = words.lengths.tolist()
    vectors = _vector_rows([own for _, own in embedded], state)
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
    names = {name: None for entry in entries for name in _known(entry.fields)}
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
    connection: Connection, tables: Tables, state: TableState, rows: Sequence[int]
) -> TableState:
    """Delete the texts of some rows; the caller holds the lock of the state."""
    where = sql.SQL("row = ANY({}::bigint[])").format(sql.Literal(list(rows)))
    return _drop_rows(connection, tables, state, where)


def copy_rows(connection: Connection, table: sql.Identifier, rows: Iterable[bytes]) -> None:
    """Copy rows in binary format into a table."""
    statement = sql.SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(table)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.write(HEADER)
        for block in rows:
            copy.write(block)
        copy.write(TRAILER)


def check_storable(entries: Iterable[Entry]) -> None:
    """Raise `InvalidArgumentError` for what PostgreSQL cannot store."""
    for entry in entries:
        shown = shorten(entry.id, 60)
        fields = as_json(_known(entry.fields)) if entry.fields else ""
        try:
            size = len(entry.id.encode())
            (entry.text + fields).encode()
        except UnicodeEncodeError as error:
            raise InvalidArgumentError(
                f"the text '{shown}' is not valid Unicode, which PostgreSQL cannot store"
            ) from error
        if "\0" in entry.id or "\0" in entry.text or ESCAPED_NUL.search(fields):
            raise InvalidArgumentError(
                f"the text '{shown}' holds the character NUL, which PostgreSQL cannot store"
            )
        if size > MAX_ID_BYTES:
            raise InvalidArgumentError(
                f"the id '{shown}' has {size:,} bytes: PostgreSQL indexes at most {MAX_ID_BYTES:,}"
            )


def _drop_rows(
    connection: Connection, tables: Tables, state: TableState, where: sql.Composable
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
    connection: Connection,
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
                *map(column, _fields(entry.fields)),
                column(digests[24 * i : 24 * i + 24]),
                INT4(4, lengths[i]),
                INT4(4, len(own.spans)),
            )
        )
        for i, (entry, own) in enumerate(embedded)
    )
    copy_rows(connection, STAGED, rows)


def _vector_rows(embedded: Sequence[EmbeddedPassages], state: TableState) -> Iterable[bytes]:
    """The rows of the table of vectors."""
    counts = np.array([len(own.spans) for own in embedded], np.int64)
    rows = np.repeat(np.arange(len(embedded)), counts)
    parts = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    matrix = np.concatenate([own.matrix for own in embedded])
    if matrix.shape[1] != state.dim:
        raise InvalidArgumentError(f"vectors of {matrix.shape[1]} dimensions in an index of"
                                   f" {state.dim}")  # fmt: skip
    if not np.isfinite(matrix).all():
        raise InvalidArgumentError("the vector of a text holds nan or inf")
    spans = np.concatenate([own.spans for own in embedded])
    return vector_rows(state.next_row + rows, parts, spans, matrix)


def _known(fields: Fields) -> dict[str, object]:
    """The fields that have a value, by their names in NFC."""
    for name in fields:
        if not isinstance(name, str) or not name:
            raise InvalidArgumentError(f"a field's name is text, not {name!r}")
    return {normalize("NFC", name): it for name, it in fields.items() if it is not None}


def _fields(fields: Fields) -> tuple[bytes, bytes]:
    """The fields as JSON, and as a binary jsonb object those that `>` compares as numbers."""
    known = _known(fields)
    if not known:
        return NO_FIELDS
    values = {name: as_json(value) for name, value in known.items()}
    whole = ", ".join(f"{as_json(name)}: {value}" for name, value in values.items())
    numbers = {name: as_number(_decoded(name, value)) for name, value in values.items()}
    stored = {
        name: number if math.isfinite(number) else str(number)
        for name, number in numbers.items()
        if number is not None and not math.isnan(number)
    }
    return f"{{{whole}}}".encode(), b"\x01" + json.dumps(stored).encode()


def _decoded(name: str, value: str) -> object:
    """A value as it is read back; JSON in a database has no nan and no inf."""

    def refuse(constant: str) -> None:
        raise InvalidArgumentError(
            f"the field '{name}' is {constant}, which JSON in PostgreSQL cannot hold: leave it out"
        )

    decoded: object = json.loads(value, parse_constant=refuse)
    return decoded
