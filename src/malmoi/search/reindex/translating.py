"""Translates the vectors of an index into those of another model, which embeds a sample only.

The switch is one commit: texts, fields, postings and passages are written as they are, with other
vectors.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import Reporter
from malmoi.search.fingerprint import document_encoder, take_fingerprint
from malmoi.search.reindex.linear_map import LinearMap, fit_map, neighbour_recall
from malmoi.search.reindex.settings import ReindexSettings
from malmoi.search.storage.folder import Folder
from malmoi.search.storage.passage_offsets import EmbeddedPassages
from malmoi.search.storage.segment import Segment
from malmoi.search.storage.state import State, Translation
from malmoi.search.writer import with_clusters
from malmoi.vectors import Vectors

MAX_TEXTS = 20_000  # of a sample
MIN_PAIRS = 20


def translate_index(
    folder: Folder,
    encoder: Encoder,
    target: State,
    settings: ReindexSettings,
    *,
    reporter: Reporter,
) -> tuple[State, int]:
    """Fit a map on a sample, measure it, and switch to translated vectors.

    Returns the new state and the number of texts that were embedded. Raises
    `InvalidArgumentError`, and leaves the index as it is, if the map keeps too few neighbours.
    """
    old = folder.read()
    rows = sample_rows(np.flatnonzero(old.living), settings)
    sample = [(old.entry(row).text, old.embedded(row)) for row in rows.tolist()]
    linear, target = fit_translation(sample, old, encoder, target, settings, reporter)
    with folder.writing():
        now = folder.read()  # others may have written since
        if now.model != old.model or now.dim != old.dim:
            raise InvalidArgumentError(
                f"the index has changed its model to '{now.model}': start again"
            )
        state = translated(now, target, linear)
        state = with_clusters(state, now.clusters is not None, reporter)
        return folder.commit(state), len(sample)


def fit_translation(
    sample: Sequence[tuple[str, EmbeddedPassages]],
    old: State,
    encoder: Encoder,
    target: State,
    settings: ReindexSettings,
    reporter: Reporter,
) -> tuple[LinearMap, State]:
    """Fit a map on texts with their old vectors; return it and the target with its recall."""
    reporter.note(f"a translation is fitted on {len(sample):,} of {old.count:,} texts")
    encode = document_encoder(encoder, target)
    texts = [each for text, own in sample for each in _passages(text, own)]
    before = np.concatenate(
        [np.empty((0, old.dim), np.float32), *(own.matrix for _, own in sample)]
    )
    after = encode.encode(texts, reporter=reporter) if texts else before
    known = np.flatnonzero(before.any(axis=1) & after.any(axis=1)) if texts else np.empty(0, int)
    if len(known) < MIN_PAIRS:
        raise InvalidArgumentError(
            f"the index has {len(known):,} texts to learn a translation from, of {MIN_PAIRS}"
            " needed: embed the texts instead of translating"
        )
    fitted = fit_map(before[known], after[known])
    recall = neighbour_recall(after[known], fitted.held_out)
    what = f"translated vectors keep {recall:.0%} of the ten nearest of {len(known):,} texts"
    if recall < settings.min_recall:
        raise InvalidArgumentError(
            f"{what}, less than min_recall {settings.min_recall:g}: the index is unchanged; lower"
            " min_recall, or embed all texts instead of translating"
        )
    reporter.note(f"{what} that '{target.model}' gives them")
    translation = Translation(old.model, len(sample), recall)
    return fitted.map, replace(
        target, probe=take_fingerprint(encode, texts), translation=translation
    )


def sample_rows(living: Int64Array, settings: ReindexSettings) -> Int64Array:
    """Rows drawn at random, in order."""
    wanted = max(settings.min_texts, round(settings.sample * len(living)))
    count = min(wanted, MAX_TEXTS, len(living))
    drawn: Int64Array = np.random.default_rng(settings.seed).choice(living, count, replace=False)
    drawn.sort()
    return drawn


def translated(old: State, target: State, linear: LinearMap) -> State:
    """The old state with the model of the target and translated vectors, none of them written."""
    return replace(
        target,
        segments=tuple(_translated(segment, linear) for segment in old.segments),
        alive=old.alive,
        fusion=old.fusion,
    )


def _translated(segment: Segment, linear: LinearMap) -> Segment:
    vectors: Float32Array = linear(segment.vectors.matrix)
    return replace(segment, vectors=Vectors(segment.vectors.keys, vectors), name="", checksum="")


def _passages(text: str, own: EmbeddedPassages) -> list[str]:
    """The texts of the vectors of a text."""
    spans = own.spans.tolist()
    return [text] if len(spans) == 1 else [text[start:stop] for start, stop in spans]
