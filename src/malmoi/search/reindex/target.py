"""The target of a reindex: an empty state for the new model, with the options of the old index."""

from dataclasses import replace

from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder
from malmoi.encode.pipeline.prompts import Prompts, own_prompts
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import Reporter
from malmoi.search.fingerprint import check_encoder, new_state
from malmoi.search.reindex.result import ReindexResult
from malmoi.search.storage.state import State


def target_state(
    old: State, encoder: Encoder, prompts: Prompts | None, reporter: Reporter
) -> State:
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


def is_done(old: State, encoder: Encoder, target: State) -> bool:
    """Whether the index has the vectors of this encoder already."""
    if old.translation or (old.model, old.prompts) != (target.model, target.prompts):
        return False
    try:
        check_encoder(encoder, old)
    except InvalidArgumentError:
        return False
    return old.probe is not None


def has_options(state: State, target: State) -> bool:
    """Whether an unfinished index has the options of the target."""
    options = (state.prompts, state.passages, state.analyser.hangul)
    return options == (target.prompts, target.passages, target.analyser.hangul)


def result_of(old: State, state: State, embedded: int) -> ReindexResult:
    """What a change of the model did."""
    return ReindexResult(
        before=old.model,
        model=state.model,
        texts=state.count,
        passages=state.vector_count,
        dim=state.dim,
        embedded=embedded,
        recall=state.translation.recall if state.translation else None,
    )
