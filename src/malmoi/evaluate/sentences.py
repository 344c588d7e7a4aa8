"""Sentence similarity (STS): does an encoder find the same texts similar as people do?

Cosines and people's scores are compared by rank (Spearman) and by value (Pearson). A text whose
vector points nowhere is similar to none: its pairs count with a cosine of 0, and are counted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from malmoi.arrays import Float32Array, Float64Array
from malmoi.encode.protocol import Encoder
from malmoi.errors import warn
from malmoi.evaluate.scores import DIGITS, Kind, Score, correlation
from malmoi.evaluate.sets.locate_sets import find_sentence_sets
from malmoi.evaluate.sets.sentence_sets import SentenceSet, read_sentences
from malmoi.reporting.reporter import Progress, ProgressCallback, no_progress


@dataclass(frozen=True)
class SentenceScore:
    """Correlations with people's scores; pairs of texts that have a vector count as answered."""

    name: str
    spearman: Score
    pearson: Score


def sentence_similarity(
    encoder: Encoder,
    pairs: SentenceSet | str | Path,
    *,
    columns: Sequence[str] | None = None,
    seed: int = 0,
    progress: Progress = no_progress,
) -> SentenceScore:
    """Compare an encoder with people's judgements in a file such as STS-B's.

    `columns` name the two texts and the score of a file where they are not known by themselves;
    `seed` is that of the bootstrap that gives the intervals.
    """
    asked = read_sentences(pairs, columns)
    return evaluate_sentences(encoder, [asked], seed=seed, progress=progress)[0]


def evaluate_sentences(
    encoder: Encoder,
    files: Iterable[str | Path | SentenceSet] | str | Path | None = None,
    *,
    columns: Sequence[str] | None = None,
    seed: int = 0,
    progress: Progress = no_progress,
) -> tuple[SentenceScore, ...]:
    """The same for each of `files`, or for all that are found; each text is encoded once."""
    sets = find_sentence_sets(files, columns)
    texts = dict.fromkeys(text for one in sets for pair in one.pairs for text in pair[:2])
    rows = {text: row for row, text in enumerate(texts)}
    matrix = encoder.encode(list(texts), reporter=ProgressCallback(progress))
    scores = []
    for one in sets:
        places = np.array([[rows[pair.one], rows[pair.other]] for pair in one.pairs])
        cosines = pair_cosines(matrix[places[:, 0]], matrix[places[:, 1]])
        scores.append(score_sentences(one, cosines, seed))
    return tuple(scores)


def score_sentences(asked: SentenceSet, cosines: Float64Array, seed: int = 0) -> SentenceScore:
    """The score of a set by the cosines of its pairs; NaN is that of a vector without direction."""
    answered = int(np.isfinite(cosines).sum())
    ours = np.nan_to_num(cosines, nan=0.0)
    theirs = np.array([pair.score for pair in asked.pairs])

    def score(kind: Kind) -> Score:
        return replace(correlation(ours, theirs, len(ours), seed, kind=kind), answered=answered)

    found = SentenceScore(asked.name, score("spearman"), score("pearson"))
    if found.spearman.value is None:
        warn(f"{asked.name}: {_why_none(ours, theirs)}")
    return found


def pair_cosines(one: Float32Array, other: Float32Array) -> Float64Array:
    """The cosine of each row of [n, dim] with the same row of another; NaN without direction."""
    a, b = one.astype(np.float64), other.astype(np.float64)
    lengths = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    pointing = np.isfinite(lengths) & (lengths > 0)
    cosines = (a * b).sum(axis=1)[pointing] / lengths[pointing]
    found: Float64Array = np.full(len(a), np.nan)
    found[pointing] = np.round(cosines, DIGITS)
    return found


def _why_none(ours: Float64Array, theirs: Float64Array) -> str:
    if len(ours) < 2:
        return "one pair alone has no correlation"
    if np.ptp(theirs) == 0:
        return f"people's scores are all {theirs[0]:g}, so that there is no correlation"
    return "all cosines are the same, so that there is no correlation"
