"""TableState: what an index in a database knows besides its texts; one row of the meta table."""

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from psycopg import sql
from psycopg.types.json import Json

from malmoi.errors import InvalidFileError
from malmoi.search.postgres.schema.database import PgConnection
from malmoi.search.storage.address import VectorIndexKind
from malmoi.search.storage.manifest import INVALID, manifest_of, state_of
from malmoi.search.storage.state import State

COLUMNS = "generation, version, next_row, texts, words, passages, fields, hnsw"
LOCAL = ("texts", "segments", "clusters")  # keys of a manifest that are those of a folder


@dataclass(frozen=True, eq=False)
class TableState(State):
    """The state of an index in a database, without its texts.

    `generation` numbers the models that an index has had, `version` its changes; `words` counts
    the words of all texts. `hnsw` is the kind of its vector index and the `ef_search` of queries.
    """

    generation: int = 1
    version: int = 0
    next_row: int = 0
    texts: int = 0
    words: int = 0
    passage_count: int = 0
    names: tuple[str, ...] = ()  # of fields
    hnsw: tuple[VectorIndexKind, int] | None = None

    @property
    def count(self) -> int:
        """The number of texts."""
        return self.texts

    @property
    def vector_count(self) -> int:
        """The number of vectors; a text with passages has several."""
        return self.passage_count

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of all fields."""
        return self.names

    @property
    def is_dense(self) -> bool:
        """Whether each row number below `next_row` is a text with one vector."""
        return self.next_row == self.texts == self.passage_count


def read_state(connection: PgConnection, meta: sql.Identifier, *, lock: bool = False) -> TableState:
    """Read the state; `lock` makes other writers wait until the end of the transaction."""
    statement = sql.SQL("SELECT manifest, {} FROM {} {}").format(
        sql.SQL(COLUMNS), meta, sql.SQL("FOR UPDATE" if lock else "")
    )
    row = connection.execute(statement).fetchone()
    if row is None:
        raise InvalidFileError(f"the table {meta.as_string()} is damaged: it is empty")
    return _state(row, meta)


def write_state(connection: PgConnection, meta: sql.Identifier, state: TableState) -> TableState:
    """Replace the state, whose lock the caller holds; return it with its new version."""
    connection.execute(
        sql.SQL(
            "UPDATE {} SET manifest = %s, generation = %s, version = version + 1, next_row = %s,"
            " texts = %s, words = %s, passages = %s, fields = %s, hnsw = %s"
        ).format(meta),
        [Json(header_of(state)), state.generation, state.next_row, state.texts, state.words,
         state.passage_count, list(state.names), Json(state.hnsw) if state.hnsw else None],
    )  # fmt: skip
    return replace(state, version=state.version + 1)


def header_of(state: State) -> dict[str, Any]:
    """The model, prompts and options of a state as JSON."""
    return {name: value for name, value in manifest_of(state).items() if name not in LOCAL}


def state_from(header: dict[str, Any]) -> State:
    """The state that a header describes, without texts."""
    return state_of({**header, "segments": [], "clusters": None}, (), Path())


def _state(row: tuple[Any, ...], meta: sql.Identifier) -> TableState:
    header, generation, version, next_row, texts, words, passages, names, hnsw = row
    try:
        plain = state_from(header)
    except INVALID as error:
        raise InvalidFileError(f"the table {meta.as_string()} is damaged ({error})") from error
    known = {each.name: getattr(plain, each.name) for each in fields(State)}
    return TableState(
        **known,
        generation=generation,
        version=version,
        next_row=next_row,
        texts=texts,
        words=words,
        passage_count=passages,
        names=tuple(names),
        hnsw=(hnsw[0], hnsw[1]) if hnsw else None,
    )
