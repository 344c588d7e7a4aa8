"""Chooses the strength of the regularization of a head on held-out texts, and calibrates by them.

Few texts are split into folds, so that each is held out once; of many, a sample is split in two.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from malmoi.arrays import BoolArray, Float32Array, Int64Array
from malmoi.classify.base.calibration import cross_entropy, find_temperature
from malmoi.classify.base.outputs import Outputs
from malmoi.classify.encoders.head import Head
from malmoi.reporting.reporter import Reporter
from malmoi.tune.data.labelled_set import LabelledSet
from malmoi.tune.data.splits import split_folds, split_texts, stratified_sample

FOLDS, MAX_FOLDED = 5, 10_000  # folds, and texts that are split into them
HELD_OUT_SHARE, MAX_HELD_OUT, MAX_TRAINED = 0.2, 5000, 20_000  # of more texts
PATIENCE_STEPS = 2  # strengths in a row that do not improve

FitHead = Callable[[Float32Array, BoolArray, float, Head | None], Head]
RowSplit = tuple[Int64Array, Int64Array]  # rows to train on, rows that are held out


class ChosenStrength(NamedTuple):
    """The strength with the lowest loss on held-out texts, and the temperature of their scores."""

    strength: float
    temperature: float


def selection_splits(data: LabelledSet, seed: int) -> list[RowSplit]:
    """Texts to train on and texts to judge by, which are never the same."""
    if len(data) <= MAX_FOLDED:
        folds = split_folds(data, FOLDS, seed)
        return [(fold.train, fold.test) for fold in folds if len(fold.train) and len(fold.test)]
    share = min(HELD_OUT_SHARE, MAX_HELD_OUT / len(data))
    split = split_texts(data, share, seed)
    train = split.train
    if len(train) > MAX_TRAINED:
        train = train[stratified_sample(data.first_labels[train], MAX_TRAINED / len(train), seed)]
    return [(train, split.test)] if len(split.test) else []


def choose_strength(
    vectors: Float32Array,
    outputs: Outputs,
    splits: Sequence[RowSplit],
    fit: FitHead,
    strengths: Sequence[float],
    reporter: Reporter,
) -> ChosenStrength:
    """Try strengths, the strongest first, until weaker ones do not improve."""
    heads: list[Head | None] = [None] * len(splits)
    targets = outputs.targets(np.concatenate([test for _, test in splits]))
    progress = reporter.stage("regularization", "strengths")
    best, lowest, waited = ChosenStrength(strengths[0], 1.0), np.inf, 0
    for done, strength in enumerate(strengths, 1):
        scores = []
        for i, (train, test) in enumerate(splits):
            heads[i] = head = fit(vectors[train], outputs.targets(train), strength, heads[i])
            scores.append(head.scores(vectors[test]))
        every = np.concatenate(scores)
        loss, waited = cross_entropy(every, targets, softmax=outputs.softmax), waited + 1
        if loss < lowest:
            temperature = find_temperature(every, targets, softmax=outputs.softmax)
            best, lowest, waited = ChosenStrength(strength, temperature), loss, 0
        if waited == PATIENCE_STEPS:
            break
        progress(done, len(strengths))
    progress(len(strengths), len(strengths))
    return best
