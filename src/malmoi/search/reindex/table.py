"""Changes the model of an index in a database: the old vectors answer until one transaction.

The new vectors are written to a table of their own, which is committed batch by batch: it is the
checkpoint of an interrupted run. Texts, words and fields stay where they are. The switch holds the
write lock of the index, embeds what others have written since, and replaces the table.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from malmoi.encode.pipeline.prompts import Prompts
from malmoi.encode.protocol import Encoder
from malmoi.errors import MalmoiError
from malmoi.reporting.reporter import Reporter, SilentReporter
from malmoi.search.fingerprint import check_encoder, document_encoder, take_fingerprint
from malmoi.search.postgres.postgres_index import PostgresIndex
from malmoi.search.postgres.reading import embedded_rows
from malmoi.search.postgres.staging import (
    StagedVectors,
    drop_staged,
    exclusive,
    staged_state,
    start_staged,
    switch,
)
from malmoi.search.reindex.estimate import duration, estimate_seconds
from malmoi.search.reindex.result import ReindexResult
from malmoi.search.reindex.settings import ReindexSettings
from malmoi.search.reindex.target import has_options, is_done, result_of, target_state
from malmoi.search.reindex.translating import fit_translation, sample_rows
from malmoi.search.storage.address import PostgresAddress
from malmoi.search.storage.passage_offsets import EmbeddedPassages, embed_texts
from malmoi.search.storage.state import State

BATCH_TEXTS = 512  # embedded between two commits

Embed = Callable[[Sequence[int], Sequence[str]], list[EmbeddedPassages]]  # of rows and texts


def reindex_table(
    address: PostgresAddress,
    encoder: Encoder,
    settings: ReindexSettings,
    prompts: Prompts | None,
    reporter: Reporter,
) -> ReindexResult:
    """Change the model of an index in a database."""
    index = PostgresIndex(address)
    with exclusive(index.database):
        old = index.state
        target = target_state(old, encoder, prompts, reporter)
        if is_done(old, encoder, target):
            drop_staged(index.database)
            return result_of(old, old, 0)
        if settings.translate:
            return _translate(index, encoder, target, settings, reporter)
        staged = _resumed(index, encoder, target, reporter)
        embedded = _embed_all(staged, encoder, reporter)
        return result_of(old, switch(staged, encoder, reporter), embedded)


def _resumed(
    index: PostgresIndex, encoder: Encoder, target: State, reporter: Reporter
) -> StagedVectors:
    """The vectors of an interrupted run, or none if they are of another model."""
    state = staged_state(index.database)
    if state is not None and _is_usable(state, encoder, target, reporter):
        staged = StagedVectors(index.database, index.state, replace(state, model=target.model))
        reporter.note(f"{staged.count():,} texts are embedded already")
        return staged
    return start_staged(index.database, index.state, target)


def _is_usable(state: State, encoder: Encoder, target: State, reporter: Reporter) -> bool:
    try:
        check_encoder(encoder, state)
    except MalmoiError as error:
        reporter.warn(f"the vectors of an interrupted run are discarded: {error}")
        return False
    if state.translation or not has_options(state, target):
        reporter.warn("the vectors of an interrupted run are discarded: they have other prompts")
        return False
    return True


def _embed_all(staged: StagedVectors, encoder: Encoder, reporter: Reporter) -> int:
    """Embed all texts that have no new vector yet; say how long it will take first."""
    encode = document_encoder(encoder, staged.target)
    rows, texts = staged.missing(-1, BATCH_TEXTS)
    if texts and staged.target.probe is None:
        staged.set_probe(take_fingerprint(encode, texts))
    missing = staged.source.texts - staged.count()
    if texts:
        seconds = estimate_seconds(encode, texts, split=staged.target.passages)
        reporter.note(f"≈ {duration(seconds * missing / len(texts))} for {missing:,} texts")
    progress, done = reporter.stage("embedding texts", "texts"), 0

    def embed(_: Sequence[int], batch: Sequence[str]) -> list[EmbeddedPassages]:
        return embed_texts(encode, batch, split=staged.target.passages, reporter=SilentReporter())

    staged.embed = embed
    while texts:
        done += staged.add(rows, texts)
        progress(min(done, missing), max(missing, done))
        rows, texts = staged.missing(rows[-1], BATCH_TEXTS)
    return done


def _translate(
    index: PostgresIndex,
    encoder: Encoder,
    target: State,
    settings: ReindexSettings,
    reporter: Reporter,
) -> ReindexResult:
    """Fit a map on a sample, measure it, and switch to translated vectors."""
    old = index.state
    with index.database.transaction(snapshot=True) as connection:
        drawn = sample_rows(index.rows(connection), settings).tolist()
        vectors = embedded_rows(connection, index.tables, old.generation, drawn)
        texts = index.texts_of(connection, drawn)
    sample = [(texts[row], vectors[row]) for row in drawn]
    linear, target = fit_translation(sample, old, encoder, target, settings, reporter)
    staged = start_staged(index.database, old, target)

    def translate(rows: Sequence[int], _: Sequence[str]) -> list[EmbeddedPassages]:
        with index.database.connection() as connection:
            known = embedded_rows(connection, index.tables, old.generation, rows)
        return [EmbeddedPassages(linear(known[row].matrix), known[row].spans) for row in rows]

    staged.embed = translate
    rows, batch = staged.missing(-1, BATCH_TEXTS)
    while rows:
        staged.add(rows, batch)
        rows, batch = staged.missing(rows[-1], BATCH_TEXTS)
    return result_of(old, switch(staged, encoder, reporter), len(sample))
