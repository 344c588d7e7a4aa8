"""Changes the model of an index: the old vectors answer until one atomic switch.

The new index is built in a folder beside the old one, `NAME.reindex`, which is committed every few
seconds: it is the checkpoint of an interrupted run. The switch is one commit to the folder of the
old index. Others may write to the index until then: the switch holds its write lock and embeds
what has changed since.
"""

import shutil
from dataclasses import replace
from pathlib import Path

from malmoi.arguments import expect_path, settings_or_default
from malmoi.encode.loading import load_encoder
from malmoi.encode.pipeline.prompts import Prompts
from malmoi.encode.protocol import Encoder, expect_encoder
from malmoi.errors import MalmoiError
from malmoi.extras import require
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.search.fingerprint import check_encoder
from malmoi.search.reindex.estimate import report_estimate
from malmoi.search.reindex.result import ReindexResult
from malmoi.search.reindex.settings import ReindexSettings
from malmoi.search.reindex.target import has_options, is_done, result_of, target_state
from malmoi.search.reindex.translating import translate_index
from malmoi.search.storage.address import is_postgres, parse_address
from malmoi.search.storage.clusters import can_cluster
from malmoi.search.storage.folder import Folder
from malmoi.search.storage.state import State
from malmoi.search.update import living_entries, update_state
from malmoi.search.writer import IndexWriter, with_clusters


def reindex(
    path: str | Path,
    encoder: Encoder | str,
    settings: ReindexSettings | None = None,
    *,
    prompts: Prompts | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> ReindexResult:
    """Change the model of an index; its texts, ids and fields stay.

    The index answers with its old model until the new vectors are complete; indexes in a folder
    that are open keep doing so. An interrupted run continues if it is called again.

    Args:
        path: The folder of the index, or its URL in a PostgreSQL database.
        encoder: The new encoder, or its name.
        settings: Whether to translate the vectors, and when to refuse it.
        prompts: Texts before each document and query; without any, those of the new model, or
            else those of the index.
        reporter: Receives the progress, the estimated time and warnings.

    Returns:
        The old and the new model, and how many texts were embedded.

    Raises:
        InvalidArgumentError: The translation keeps less than `min_recall`, or an argument is not
            valid.
        InvalidFileError: There is no index in the folder or database, or it cannot be written.
    """
    expect_reporter(reporter)
    settings = settings_or_default(settings, ReindexSettings)
    folder = None if isinstance(path, str) and is_postgres(path) else Folder(expect_path(path))
    if isinstance(encoder, str):
        encoder = load_encoder(encoder)
    expect_encoder(encoder)
    if folder is None:
        require("psycopg", extra="postgres")
        from malmoi.search.reindex.table import reindex_table

        return reindex_table(parse_address(str(path)), encoder, settings, prompts, reporter)
    old = folder.read()
    target = target_state(old, encoder, prompts, reporter)
    staged = Folder(checkpoint_path(folder.path))
    if is_done(old, encoder, target):
        _remove(staged)
        return result_of(old, old, 0)
    if settings.translate:
        state, embedded = translate_index(folder, encoder, target, settings, reporter=reporter)
    else:
        state, embedded = _embed_index(folder, staged, encoder, target, reporter)
    _remove(staged)
    return result_of(old, state, embedded)


def checkpoint_path(path: Path) -> Path:
    """The folder beside an index that holds the unfinished index of the new model."""
    whole = path.resolve()
    return whole.with_name(f"{whole.name}.reindex")


def _embed_index(
    folder: Folder, staged: Folder, encoder: Encoder, target: State, reporter: Reporter
) -> tuple[State, int]:
    """Embed all texts of an index beside it, and switch."""
    with staged.writing():
        writer = IndexWriter(_resumed(staged, encoder, target, reporter), encoder, staged)
        report_estimate(writer, folder.read(), reporter)
        embedded = _follow(writer, folder.read(), reporter)
        with folder.writing():  # from here on, other writers are refused
            last = folder.read()
            embedded += _follow(writer, last, reporter)
            return folder.commit(_ready(writer.state, last, reporter)), embedded


def _follow(writer: IndexWriter, old: State, reporter: Reporter) -> int:
    """Make the new index hold the entries of the old one; return how many texts it embedded."""
    entries = living_entries(old)
    if not entries:
        writer.state = replace(writer.state, segments=(), alive=(), clusters=None, fusion=None)
        return 0
    return update_state(writer, entries, keep=False, reporter=reporter).embedded


def _ready(state: State, old: State, reporter: Reporter) -> State:
    """A state of another folder to be written whole, with clusters where the old one has any."""
    approximate = None if old.clusters and not can_cluster() else old.clusters is not None
    state = with_clusters(state, approximate, reporter)
    clusters = state.clusters
    if clusters and clusters.path:
        clusters = clusters.without_file()
    segments = tuple(replace(segment, name="") for segment in state.segments)
    return replace(state, segments=segments, clusters=clusters)


def _resumed(staged: Folder, encoder: Encoder, target: State, reporter: Reporter) -> State:
    """The state of the checkpoint, or the empty target if it is of another model."""
    if not staged.exists:
        return target
    try:
        state = staged.read()
        check_encoder(encoder, state)
    except MalmoiError as error:
        reporter.warn(f"{staged.path} is discarded: {error}")
        return target
    if not has_options(state, target):
        reporter.warn(f"{staged.path} is discarded: it has other prompts")
        return target
    reporter.note(f"{staged.path}: {state.count:,} texts are embedded already")
    return replace(state, model=target.model)


def _remove(staged: Folder) -> None:
    """Remove the checkpoint; what cannot be removed does no harm."""
    if staged.path.is_dir():
        shutil.rmtree(staged.path, ignore_errors=True)
