"""The tables of an index in a database: their names, and how they are created.

faq            one row per text: id, text, fields, digest; `row` numbers texts in order
faq_words      the inverted index: one row per word of a text, with its count
faq_vectors_1  one row per passage: its span and vector; 1 is the generation of the model
faq_meta       one row: the model, prompts and options, counts; its lock is the write lock
"""

from dataclasses import dataclass

from psycopg import sql
from psycopg.types.json import Json

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.search.postgres.schema.database import PgConnection
from malmoi.search.postgres.schema.table_state import header_of
from malmoi.search.storage.address import PostgresAddress
from malmoi.search.storage.state import State

LAYOUT = 1  # version of the tables
MAX_INLINE_DIM = 1900  # vectors that fit a page; larger ones are stored out of line
MAX_DIM = 16_000  # of pgvector
INDEXED = ("word", "row")  # columns of the table of words
OUR_COLUMNS = ("layout", "manifest", "next_row")  # of the meta table
TABLES = (
    """CREATE TABLE {texts} (
        id text COLLATE "C" PRIMARY KEY,
        row bigint NOT NULL,
        text text NOT NULL,
        fields json NOT NULL,
        numbers jsonb NOT NULL,
        digest bytea NOT NULL,
        length int NOT NULL,
        passages int NOT NULL
    )""",
    "CREATE UNIQUE INDEX {texts_row} ON {texts} (row)",
    "CREATE INDEX {texts_fields} ON {texts} USING gin ((fields::jsonb) jsonb_path_ops)",
    """CREATE TABLE {words} (
        row bigint NOT NULL,
        length int NOT NULL,
        count int NOT NULL,
        word text COLLATE "C" NOT NULL
    )""",
    """CREATE TABLE {meta} (
        layout int NOT NULL,
        manifest json NOT NULL,
        staged json,
        generation int NOT NULL,
        version bigint NOT NULL,
        next_row bigint NOT NULL,
        texts bigint NOT NULL,
        words bigint NOT NULL,
        passages bigint NOT NULL,
        fields text[] NOT NULL,
        hnsw json
    )""",
)


@dataclass(frozen=True)
class Tables:
    """The names of the tables of an index."""

    address: PostgresAddress

    @property
    def texts(self) -> sql.Identifier:
        """The table of texts."""
        return self._named("")

    @property
    def words(self) -> sql.Identifier:
        """The inverted index."""
        return self._named("_words")

    @property
    def meta(self) -> sql.Identifier:
        """The table of one row."""
        return self._named("_meta")

    def vectors(self, generation: int) -> sql.Identifier:
        """The vectors of a model."""
        return self._named(f"_vectors_{generation}")

    def index_name(self, suffix: str) -> sql.Identifier:
        """The name of a database index, which is in the schema of its table."""
        return sql.Identifier(f"{self.address.table}_{suffix}")

    def in_schema(self, suffix: str) -> sql.Identifier:
        """The name of a database index, with its schema."""
        return self._named(f"_{suffix}")

    def _named(self, suffix: str) -> sql.Identifier:
        name = f"{self.address.table}{suffix}"
        return sql.Identifier(self.address.schema, name) if self.address.schema else (
            sql.Identifier(name))  # fmt: skip


def exists(connection: PgConnection, tables: Tables) -> bool:
    """Whether the index exists; raises for a table of the same name that is not an index."""
    meta, texts = (_is_table(connection, name) for name in (tables.meta, tables.texts))
    if meta and texts and _is_ours(connection, tables):
        return True
    if meta or texts:
        raise InvalidFileError(
            f"{tables.address} is not an index of malmoi: name another table with ?table=NAME"
        )
    return False


def create_tables(connection: PgConnection, tables: Tables, state: State) -> None:
    """Create the tables of an empty index, in the transaction of the caller."""
    (encoding,) = connection.execute("SHOW server_encoding").fetchone() or ("",)
    if encoding != "UTF8":
        raise InvalidFileError(f"{tables.address}: the database has the encoding {encoding}:"
                               " create one with the encoding UTF8")  # fmt: skip
    (extension,) = connection.execute(
        "SELECT count(*) FROM pg_extension WHERE extname = 'vector'"
    ).fetchone() or (0,)
    if not extension:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    names: dict[str, sql.Composable] = {
        "texts": tables.texts,
        "words": tables.words,
        "meta": tables.meta,
        "texts_row": tables.index_name("row"),
        "texts_fields": tables.index_name("fields"),
    }
    for statement in TABLES:
        connection.execute(sql.SQL(statement).format(**names))
    create_vectors(connection, tables, 1, state.dim)
    connection.execute(
        sql.SQL(
            "INSERT INTO {} (layout, manifest, generation, version, next_row, texts, words,"
            " passages, fields) VALUES (%s, %s, 1, 0, 0, 0, 0, 0, '{{}}')"
        ).format(tables.meta),
        [LAYOUT, Json(header_of(state))],
    )


def has_word_indexes(connection: PgConnection, tables: Tables) -> bool:
    """Whether the words are indexed, which they are after the first load."""
    names = [tables.in_schema(f"words_{column}") for column in INDEXED]
    return all(_is_table(connection, name) for name in names)


def create_word_indexes(connection: PgConnection, tables: Tables) -> None:
    """Index the words, unless they are; after a load, since that is much faster."""
    if has_word_indexes(connection, tables):
        return
    for column in INDEXED:
        connection.execute(
            sql.SQL("CREATE INDEX {} ON {} ({})").format(
                tables.index_name(f"words_{column}"), tables.words, sql.Identifier(column)
            )
        )


def create_vectors(connection: PgConnection, tables: Tables, generation: int, dim: int) -> None:
    """Create the table of the vectors of a model."""
    if dim > MAX_DIM:
        raise InvalidArgumentError(f"pgvector stores up to {MAX_DIM:,} dimensions, not {dim:,}")
    name = tables.vectors(generation)
    connection.execute(
        sql.SQL(
            "CREATE TABLE {} (row bigint NOT NULL, part int NOT NULL, first int NOT NULL,"
            " last int NOT NULL, embedding vector({}) NOT NULL, PRIMARY KEY (row, part))"
        ).format(name, sql.Literal(dim))
    )
    if dim <= MAX_INLINE_DIM:
        connection.execute(
            sql.SQL("ALTER TABLE {} ALTER COLUMN embedding SET STORAGE PLAIN").format(name)
        )


def _is_table(connection: PgConnection, name: sql.Identifier) -> bool:
    row = connection.execute("SELECT to_regclass(%s)", [name.as_string(connection)]).fetchone()
    return row is not None and row[0] is not None


def _is_ours(connection: PgConnection, tables: Tables) -> bool:
    """Whether the meta table is that of an index, of a layout that this malmoi reads."""
    row = connection.execute(
        "SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass(%s)"
        " AND attname = ANY(%s::text[])",
        [tables.meta.as_string(connection), list(OUR_COLUMNS)],
    ).fetchone()
    if row != (len(OUR_COLUMNS),):
        return False
    layout = connection.execute(sql.SQL("SELECT layout FROM {}").format(tables.meta)).fetchone()
    if layout is not None and layout[0] != LAYOUT:
        raise InvalidFileError(
            f"{tables.address} is of version {layout[0]}; this malmoi reads {LAYOUT}"
        )
    return layout is not None
