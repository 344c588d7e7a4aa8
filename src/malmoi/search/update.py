"""Incremental update of an index: only new and changed texts are embedded.

An entry is known by its id; a digest of its text and fields shows whether it has changed. A text
that moved to another id keeps its vector.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from malmoi.arguments import expect, expect_path
from malmoi.arrays import Int64Array, UInt64Array
from malmoi.encode.pipeline.prompts import Prompts
from malmoi.encode.protocol import Encoder, expect_encoder
from malmoi.errors import InvalidFileError
from malmoi.extras import require
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.search.entries import check_ids
from malmoi.search.fingerprint import check_encoder, check_settings, new_state
from malmoi.search.storage.address import is_postgres, parse_address
from malmoi.search.storage.entry import Entry
from malmoi.search.storage.folder import Folder
from malmoi.search.storage.passage_offsets import EmbeddedPassages
from malmoi.search.storage.segment import digests_of
from malmoi.search.storage.state import State, merge_segments, without
from malmoi.search.writer import IndexUpdate, IndexWriter, with_clusters

Digest = tuple[int, int]  # of a text


def update_index(
    path: str | Path,
    encoder: Encoder,
    entries: Iterable[Entry],
    *,
    keep: bool = False,
    passages: bool | None = None,
    prompts: Prompts | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> IndexUpdate:
    """Make an index hold exactly these entries; create it if it does not exist.

    Embedded texts are committed every few seconds: an interrupted update continues where it
    stopped.

    Args:
        path: The folder of the index, or its URL in a PostgreSQL database.
        encoder: The encoder of the index.
        entries: All entries, with unique ids.
        keep: Keep the entries that the index has beside these.
        passages: Split texts that are too long for the encoder into passages (the default for a
            new index). An existing index keeps its setting.
        prompts: Texts before each document and query; without any, those of the model. An
            existing index keeps its prompts.
        reporter: Receives the progress and warnings.

    Returns:
        How many texts were added, changed, removed, unchanged and embedded.

    Raises:
        InvalidArgumentError: The encoder, passages or prompts are not those of the index, or an
            id occurs twice.
        InvalidFileError: There are no entries, or the folder or database cannot be read or
            written.

    Example:
        entries = [mm.Entry("1", "Where is the bank?"), mm.Entry("2", "It rains.")]
        mm.update_index("faq", mm.load_encoder("minilm"), entries)
    """
    expect_reporter(reporter)
    expect_encoder(encoder)
    expect(entries, Iterable, "entries", "a list of Entry")
    every = list(entries)
    for i, entry in enumerate(every):
        expect(entry, Entry, f"entry {i}", "an Entry", hint="write Entry(id, text)")
    if isinstance(path, str) and is_postgres(path):
        require("psycopg", extra="postgres")
        from malmoi.search.postgres.building import update_table

        check_entries(every)
        return update_table(parse_address(path), encoder, every, keep=keep, passages=passages,
                            prompts=prompts, reporter=reporter)  # fmt: skip
    folder = Folder(expect_path(path))
    with folder.writing():
        if folder.exists:
            state = folder.read()
            check_encoder(encoder, state)
            check_settings(state, passages, prompts)
        else:
            state = new_state(encoder, passages=passages is not False, prompts=prompts)
        writer = IndexWriter(state, encoder, folder)
        return update_state(writer, every, keep=keep, reporter=reporter)


def update_state(
    writer: IndexWriter, entries: Sequence[Entry], *, keep: bool, reporter: Reporter
) -> IndexUpdate:
    """Make the state of a writer hold these entries, and commit it."""
    check_entries(entries)
    state = writer.state
    rows = state.find([entry.id for entry in entries])
    digests = digests_of(entries)
    same = rows >= 0
    stored = _digests(state)
    same[same] = (stored[rows[same]] == digests[same]).all(axis=1)
    todo = [entry for entry, is_same in zip(entries, same, strict=True) if not is_same]
    removed = [] if keep else [state.entry(int(row)).id for row in _other_rows(state, rows)]
    known = _known_vectors(state, stored, todo, digests[~same])
    embedded = writer.embed(todo, known=known, reporter=reporter)

    def prepare(state: State) -> State:
        remaining = without(state, state.find(removed))
        return with_clusters(merge_segments(remaining), reporter=reporter)

    state = writer.finish(prepare)
    changed = int(np.sum(~same & (rows >= 0)))
    return IndexUpdate(
        added=len(todo) - changed,
        changed=changed,
        removed=len(removed),
        unchanged=int(same.sum()),
        embedded=embedded,
        texts=state.count,
        passages=state.vector_count,
        weight=state.weight,
    )


def check_entries(entries: Sequence[Entry]) -> None:
    """Raise if there are no entries, or if an id occurs twice."""
    if not entries:
        raise InvalidFileError("there are no texts to index")
    check_ids(entries)


def living_entries(state: State) -> list[Entry]:
    """All entries of an index, in order."""
    return [state.entry(row) for row in np.flatnonzero(state.living).tolist()]


def _digests(state: State) -> UInt64Array:
    """The digests of all rows, [rows, 3]."""
    parts = [segment.digests for segment in state.segments]
    return np.concatenate([np.empty((0, 3), np.uint64), *parts])


def _other_rows(state: State, rows: Int64Array) -> Int64Array:
    """The living rows that are not among these."""
    living = state.living.copy()
    living[rows[rows >= 0]] = False
    return np.flatnonzero(living)


def _known_vectors(
    state: State, stored: UInt64Array, entries: Sequence[Entry], digests: UInt64Array
) -> dict[str, EmbeddedPassages]:
    """The vectors of those texts that the index has already, by text.

    `stored` are the digests of all rows, `digests` those of the entries; the first two numbers of
    a digest are the text's.
    """
    living = np.flatnonzero(state.living & np.isin(stored[:, 0], digests[:, 0]))
    pairs = zip(stored[living, :2].tolist(), living.tolist(), strict=True)
    rows: dict[Digest, int] = {(one, two): row for (one, two), row in pairs}
    known = {}
    for entry, (one, two, _) in zip(entries, digests.tolist(), strict=True):
        if (row := rows.get((one, two))) is not None and entry.text not in known:
            known[entry.text] = state.embedded(row)
    return known
