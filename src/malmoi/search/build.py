"""Build an index from texts or vectors, or open one from its folder."""

from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path

from malmoi.arguments import expect_path
from malmoi.encode.pipeline.prompts import Prompts
from malmoi.encode.protocol import Encoder, expect_encoder
from malmoi.errors import InvalidArgumentError
from malmoi.extras import require
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.search.analyser import best_analyser
from malmoi.search.entries import check_ids, make_entries
from malmoi.search.fingerprint import new_state
from malmoi.search.index import Index
from malmoi.search.local_index import LocalIndex
from malmoi.search.storage.address import is_postgres, parse_address
from malmoi.search.storage.columns import Fields
from malmoi.search.storage.entry import EntryId
from malmoi.search.storage.folder import Folder
from malmoi.search.storage.segment import make_segment
from malmoi.search.storage.state import State, with_segment
from malmoi.search.writer import IndexWriter, with_clusters
from malmoi.text_inputs import TextLike
from malmoi.vectors import Vectors


def build_index(
    encoder: Encoder | Vectors,
    texts: Iterable[TextLike] | None = None,
    *,
    ids: Iterable[EntryId] | None = None,
    fields: Iterable[Fields] | None = None,
    path: str | Path | None = None,
    approximate: bool | None = None,
    passages: bool = True,
    prompts: Prompts | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Index:
    """Build an index over texts with an encoder, or over the keys of vectors.

    A build into a folder or a database is committed every few seconds; `update_index` continues
    one that was interrupted.

    Args:
        encoder: An encoder, or `Vectors` whose keys are the texts.
        texts: Strings or token lists, in a list, a generator, a Series or an array; leave them
            out for `Vectors`.
        ids: A unique id per text, strings or integers, which are stored as strings; without
            them, texts are numbered from 0.
        fields: A mapping of fields per text, for filters.
        path: A new folder to write the index to, or the URL of a PostgreSQL database,
            `postgresql://user@host/database?table=faq`; without it, the index is in memory.
        approximate: Search through clusters (faiss, extra `search`), or in a database through
            HNSW. By default, indexes of more than 100,000 vectors are, if faiss is installed.
        passages: Split texts that are too long for the encoder into passages, instead of
            truncating them.
        prompts: Texts before each document and query; without any, those of the model.
        reporter: Receives the progress and warnings.

    Returns:
        The index.

    Raises:
        InvalidArgumentError: There is an index in `path` already, ids are not unique, or the
            arguments do not fit each other.
        InvalidFileError: The folder cannot be written.
    """
    expect_reporter(reporter)
    if not isinstance(encoder, Vectors):
        expect_encoder(encoder)
    address = parse_address(path) if isinstance(path, str) and is_postgres(path) else None
    folder = Folder(expect_path(path)) if path is not None and address is None else None
    if folder and folder.exists:
        raise InvalidArgumentError(
            f"{path} holds an index already: open_index opens it, update_index updates it"
        )
    if isinstance(encoder, Vectors):
        if texts is not None:
            raise InvalidArgumentError("the texts of vectors are their keys: leave texts out")
        keys = list(encoder.keys)
        entries = make_entries(keys, keys if ids is None else ids, fields)
        state = State(best_analyser(), encoder.dim)
        if address:
            _require_driver()
            from malmoi.search.postgres.building import build_table_of_vectors

            return build_table_of_vectors(
                address, encoder, state, entries, approximate=approximate, reporter=reporter
            )
        if entries:
            state = with_segment(state, make_segment(entries, encoder.matrix, state.analyser))
        state = with_clusters(state, approximate, reporter)
        with folder.writing() if folder else nullcontext():
            return LocalIndex(folder.commit(state) if folder else state, folder=folder)
    entries = make_entries(() if texts is None else texts, ids, fields)
    check_ids(entries)
    state = new_state(encoder, passages=passages, prompts=prompts)
    if address:
        _require_driver()
        from malmoi.search.postgres.building import build_table

        return build_table(
            address, encoder, state, entries, approximate=approximate, reporter=reporter
        )
    with folder.writing() if folder else nullcontext():
        writer = IndexWriter(state, encoder, folder)
        writer.embed(entries, reporter=reporter)
        state = writer.finish(lambda state: with_clusters(state, approximate, reporter))
        return LocalIndex(state, encoder=encoder, folder=folder)


def open_index(path: str | Path, encoder: Encoder | None = None) -> Index:
    """Open the index in a folder, memory-mapped, or in a PostgreSQL database.

    Args:
        path: The folder of the index, or its URL: `postgresql://user@host/database?table=faq`.
        encoder: The encoder of the index; by default it is loaded by its name when needed.

    Returns:
        The index.

    Raises:
        InvalidFileError: The folder or database does not hold an index, or it is damaged.
        InvalidArgumentError: The encoder is not that of the index.
    """
    if encoder is not None:
        expect_encoder(encoder)
    if isinstance(path, str) and is_postgres(path):
        _require_driver()
        from malmoi.search.postgres.postgres_index import PostgresIndex

        return PostgresIndex(parse_address(path), encoder)
    folder = Folder(expect_path(path))
    return LocalIndex(folder.read(), encoder=encoder, folder=folder)


def index_exists(path: str | Path) -> bool:
    """Whether there is an index in a folder or a database."""
    if isinstance(path, str) and is_postgres(path):
        _require_driver()
        from malmoi.search.postgres.building import table_exists

        return table_exists(parse_address(path))
    return Folder(expect_path(path)).exists


def _require_driver() -> None:
    """Raise `MissingDependencyError` if the driver of PostgreSQL is not installed."""
    require("psycopg", extra="postgres")
