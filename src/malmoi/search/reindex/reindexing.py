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
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder
from malmoi.encode.pipeline.prompts import Prompts, own_prompts
from malmoi.encode.protocol import Encoder, expect_encoder
from malmoi.errors import InvalidArgumentError, MalmoiError
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.search.fingerprint import check_encoder, new_state
from malmoi.search.reindex.estimate import report_estimate
from malmoi.search.reindex.result import ReindexResult
from malmoi.search.reindex.settings import ReindexSettings
from malmoi.search.reindex.translating import translate_index
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
    """Change the model of the index in a folder; its texts, ids and fields stay.

    The index answers with its old model until the new vectors are complete; indexes that are
    open keep doing so. An interrupted run continues if it is called again.

    Args:
        path: The folder of the index.
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
        InvalidFileError: There is no index in the folder, or the folder cannot be written.
    """
    expect_reporter(reporter)
    settings, folder = settings_or_default(settings, ReindexSettings), Folder(expect_path(path))
    if isinstance(encoder, str):
        encoder = load_encoder(encoder)
    expect_encoder(encoder)
    old = folder.read()
    target = _target(old, encoder, prompts, reporter)
    staged = Folder(checkpoint_path(folder.path))
    if _is_done(old, encoder, target):
        _remove(staged)
        return _result(old, old, 0)
    if settings.translate:
        state, embedded = translate_index(folder, encoder, target, settings, reporter=reporter)
    else:
        state, embedded = _embed_index(folder, staged, encoder, target, reporter)
    _remove(staged)
    return _result(old, state, embedded)


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


def _target(old: State, encoder: Encoder, prompts: Prompts | None, reporter: Reporter) -> State:
    """An empty state for the new encoder, with the options of the old index."""
    if prompts is None:
        prompts = _prompts(old, encoder, reporter)
    state = new_state(encoder, passages=old.passages, prompts=prompts)
    return replace(state, analyser=old.analyser)


def _prompts(old: State, encoder: Encoder, reporter: Reporter) -> Prompts:
    """The prompts of the new model, or else those of the index, where the model takes any."""
    own, kept = own_prompts(encoder), old.prompts or Prompts()
    if own != Prompts() or kept == Prompts():
        return own
    if not isinstance(encoder, ContextualEncoder):
        reporter.warn(f"'{encoder.name}' takes no prompts: those of the index are dropped")
        return own
    reporter.warn(
        f"'{encoder.name}' names no prompts: those of the index are kept,"
        f" '{kept.document}' and '{kept.query}'"
    )
    return kept


def _is_done(old: State, encoder: Encoder, target: State) -> bool:
    """Whether the index has the vectors of this encoder already."""
    if old.translation or (old.model, old.prompts) != (target.model, target.prompts):
        return False
    try:
        check_encoder(encoder, old)
    except InvalidArgumentError:
        return False
    return old.probe is not None


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
    options = (state.prompts, state.passages, state.analyser.hangul)
    if options != (target.prompts, target.passages, target.analyser.hangul):
        reporter.warn(f"{staged.path} is discarded: it has other prompts")
        return target
    reporter.note(f"{staged.path}: {state.count:,} texts are embedded already")
    return replace(state, model=target.model)


def _remove(staged: Folder) -> None:
    """Remove the checkpoint; what cannot be removed does no harm."""
    if staged.path.is_dir():
        shutil.rmtree(staged.path, ignore_errors=True)


def _result(old: State, state: State, embedded: int) -> ReindexResult:
    return ReindexResult(
        before=old.model,
        model=state.model,
        texts=state.count,
        passages=state.vector_count,
        dim=state.dim,
        embedded=embedded,
        recall=state.translation.recall if state.translation else None,
    )
