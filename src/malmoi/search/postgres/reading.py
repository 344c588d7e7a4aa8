"""Reads texts, vectors and changes from the tables of an index."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from psycopg import sql

from malmoi.arrays import Float32Array, Int64Array
from malmoi.search.postgres.binary_rows import INT4, column, row_of, vector_of
from malmoi.search.postgres.schema.database import PgConnection
from malmoi.search.postgres.schema.table_state import TableState
from malmoi.search.postgres.schema.tables import Tables
from malmoi.search.postgres.storing import copy_rows
from malmoi.search.storage.entry import Entry
from malmoi.search.storage.fusion import cosine_spread, spread_sample
from malmoi.search.storage.passage_offsets import EmbeddedPassages
from malmoi.search.storage.segment import digests_of
from malmoi.unicode import normalize

BATCH_ROWS = 2000
COMPARED = sql.Identifier("malmoi_compared")  # a temporary table
TEXT_DIGEST = sql.SQL("substr({}, 1, 16)")  # the rest of a digest is that of the fields


class Changes(NamedTuple):
    """How entries differ from those of an index, and the vectors that it has already."""

    same: set[int]  # positions of entries
    replaced: set[int]
    others: list[int]  # rows whose ids are not those of entries
    known: dict[str, EmbeddedPassages]  # by text


def entries_of(connection: PgConnection, tables: Tables) -> Iterator[Entry]:
    """All texts in order, in one snapshot."""
    with connection.transaction(), connection.cursor(name="malmoi_entries") as cursor:
        cursor.itersize = BATCH_ROWS
        cursor.execute(sql.SQL("SELECT id, text, fields FROM {} ORDER BY row").format(tables.texts))
        for id, text, fields in cursor:
            yield Entry(id, text, fields)


def rows_of(connection: PgConnection, tables: Tables, ids: Sequence[str]) -> dict[str, int]:
    """The rows of ids, as they are written or else in NFC; an id without a text is left out."""
    both = {id: (id, normalize("NFC", id)) for id in ids if _is_storable(id)}
    names = list({name for pair in both.values() for name in pair})
    statement = sql.SQL("SELECT id, row FROM {} WHERE id = ANY(%s)").format(tables.texts)
    rows: dict[str, int] = dict(connection.execute(statement, [names]).fetchall())
    return {
        id: rows[name] for id, pair in both.items() if (name := next(iter(
            one for one in pair if one in rows), None)) is not None
    }  # fmt: skip


def entry_at(connection: PgConnection, tables: Tables, row: int) -> Entry | None:
    """The text of a row."""
    statement = sql.SQL("SELECT id, text, fields FROM {} WHERE row = %s").format(tables.texts)
    read = connection.execute(statement, [row]).fetchone()
    return Entry(*read) if read else None


def embedded_rows(
    connection: PgConnection, tables: Tables, generation: int, rows: Sequence[int]
) -> dict[int, EmbeddedPassages]:
    """The vectors and spans of texts, by row."""
    statement = sql.SQL(
        "SELECT row, first, last, embedding FROM {} WHERE row = ANY(%s) ORDER BY row, part"
    ).format(tables.vectors(generation))
    matrices: dict[int, list[Float32Array]] = {}
    spans: dict[int, list[tuple[int, int]]] = {}
    with connection.cursor(binary=True) as cursor:
        for row, first, last, data in cursor.execute(statement, [list(rows)]):
            matrices.setdefault(row, []).append(vector_of(data))
            spans.setdefault(row, []).append((first, last))
    return {
        row: EmbeddedPassages(np.stack(matrices[row]), np.array(spans[row], np.uint32))
        for row in matrices
    }


def all_rows(connection: PgConnection, tables: Tables) -> Int64Array:
    """The rows of all texts, in order."""
    statement = sql.SQL("SELECT row FROM {} ORDER BY row").format(tables.texts)
    with connection.cursor(binary=True) as cursor:
        return np.array([row for (row,) in cursor.execute(statement)], np.int64)


def texts_of(connection: PgConnection, tables: Tables, rows: Sequence[int]) -> dict[int, str]:
    """The texts of rows."""
    statement = sql.SQL("SELECT row, text FROM {} WHERE row = ANY(%s)").format(tables.texts)
    return dict(connection.execute(statement, [list(rows)]).fetchall())


def spread_of(connection: PgConnection, tables: Tables, state: TableState) -> float:
    """The standard deviation of cosines between vectors, on the sample of a folder."""
    chosen, vectors = spread_sample(state.passage_count).tolist(), tables.vectors(state.generation)
    if state.is_dense:
        statement = sql.SQL("SELECT embedding FROM {} WHERE row = ANY(%s) ORDER BY row").format(
            vectors
        )
    else:
        statement = sql.SQL(
            "SELECT p.embedding FROM (SELECT row, part, row_number() OVER (ORDER BY row, part) - 1"
            " AS n FROM {v}) i JOIN {v} p USING (row, part) WHERE n = ANY(%s) ORDER BY n"
        ).format(v=vectors)
    with connection.cursor(binary=True) as cursor:
        sample = [vector_of(data) for (data,) in cursor.execute(statement, [chosen])]
    return cosine_spread(np.stack(sample) if sample else np.empty((0, state.dim), np.float32))


def changes_of(
    connection: PgConnection, tables: Tables, generation: int, entries: Sequence[Entry]
) -> Changes:
    """Compare entries with those of an index by digest, in a transaction of the caller."""
    digests = digests_of(entries).tobytes()
    connection.execute(
        sql.SQL(
            'CREATE TEMPORARY TABLE {} (at int, id text COLLATE "C", digest bytea) ON COMMIT DROP'
        ).format(COMPARED)
    )
    rows = (
        row_of((INT4(4, i), column(each.id.encode()), column(digests[24 * i : 24 * i + 24])))
        for i, each in enumerate(entries)
    )
    copy_rows(connection, COMPARED, rows)
    connection.execute(sql.SQL("ANALYZE {}").format(COMPARED))
    names: dict[str, sql.Composable] = {
        "compared": COMPARED,
        "texts": tables.texts,
        "own": TEXT_DIGEST.format(sql.SQL("t.digest")),
        "new": TEXT_DIGEST.format(sql.SQL("c.digest")),
    }
    read: list[list[tuple[Any, ...]]] = [
        connection.execute(sql.SQL(statement).format(**names)).fetchall()
        for statement in (SAME, OTHERS, MOVED)
    ]
    kept = dict(read[0])
    vectors = embedded_rows(connection, tables, generation, [row for _, row in read[2]])
    known = {entries[at].text: vectors[row] for at, row in read[2] if row in vectors}
    same = {at for at, is_same in kept.items() if is_same}
    return Changes(same, set(kept) - same, [row for (row,) in read[1]], known)


def _is_storable(id: str) -> bool:
    try:
        return b"\0" not in id.encode()
    except UnicodeEncodeError:
        return False


SAME = "SELECT c.at, c.digest = t.digest FROM {compared} c JOIN {texts} t USING (id)"
OTHERS = """SELECT t.row FROM {texts} t WHERE NOT EXISTS
    (SELECT FROM {compared} c WHERE c.id = t.id) ORDER BY t.row"""
MOVED = """SELECT DISTINCT ON (c.at) c.at, t.row FROM {compared} c JOIN {texts} t ON {own} = {new}
    WHERE NOT EXISTS (SELECT FROM {texts} s WHERE s.id = c.id AND s.digest = c.digest)"""
