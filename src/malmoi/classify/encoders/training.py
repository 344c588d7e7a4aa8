"""Trains a head on the frozen vectors of labelled texts; the encoder itself does not change."""

from functools import partial

import numpy as np

from malmoi.arrays import BoolArray, Float32Array
from malmoi.classify.base.outputs import Outputs, common_fields
from malmoi.classify.encoders.head import Head, Layer, standardization
from malmoi.classify.encoders.mlp import MlpTrainer
from malmoi.classify.encoders.selection import (
    ChosenStrength,
    FitHead,
    choose_strength,
    selection_splits,
)
from malmoi.classify.encoders.settings import EncoderClassifier
from malmoi.classify.encoders.text_vectors import TextVectors
from malmoi.classify.encoders.vector_classifier import VectorClassifier
from malmoi.encode.loading import load_encoder
from malmoi.evaluate.suites.logistic_regression import LinearProbe, fit_linear
from malmoi.reporting.reporter import Reporter
from malmoi.tune.data.labelled_set import LabelledSet

PENALTIES = (3000.0, 1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
WEIGHT_DECAYS = (10.0, 3.0, 1.0, 0.3, 0.1)


def fit_on_encoder(
    data: LabelledSet, settings: EncoderClassifier, reporter: Reporter
) -> VectorClassifier:
    """A head on the vectors of all these texts; held-out ones choose its regularization."""
    encoder = load_encoder(settings.model)
    text_vectors = TextVectors.of(encoder, data.texts, cache=settings.cache)
    vectors, outputs = text_vectors(data.texts, reporter), Outputs.of(data)
    scale = standardization(vectors)
    scale.apply(vectors)
    fit = head_trainer(settings, softmax=outputs.softmax)
    chosen = _selection(data, vectors, outputs, fit, settings, reporter)
    head = fit(vectors, outputs.targets(), chosen.strength, None)
    common = common_fields(data, softmax=outputs.softmax)
    facts = common.metadata | {"penalty": f"{chosen.strength:g}"}
    temperature = chosen.temperature if settings.calibrate else 1.0
    return VectorClassifier(
        vectors=text_vectors,
        head=scale.undo(head),
        **common._replace(metadata=facts, temperature=temperature)._asdict(),
    )


def _selection(
    data: LabelledSet,
    vectors: Float32Array,
    outputs: Outputs,
    fit: FitHead,
    settings: EncoderClassifier,
    reporter: Reporter,
) -> ChosenStrength:
    strengths: tuple[float, ...] = PENALTIES if settings.head == "linear" else WEIGHT_DECAYS
    if settings.penalty is not None:
        strengths = (settings.penalty,)
    splits = selection_splits(data, settings.seed)
    if not splits or (len(strengths) == 1 and not settings.calibrate):
        return ChosenStrength(strengths[len(strengths) // 2], 1.0)
    return choose_strength(vectors, outputs, splits, fit, strengths, reporter)


def head_trainer(settings: EncoderClassifier, *, softmax: bool) -> FitHead:
    """What fits a head of this kind."""
    if settings.head == "linear":
        return partial(fit_linear_head, softmax=softmax, max_iterations=settings.max_iterations)
    return MlpTrainer(softmax=softmax, hidden=settings.hidden, seed=settings.seed)


def fit_linear_head(
    vectors: Float32Array,
    targets: BoolArray,
    penalty: float,
    like: Head | None = None,
    *,
    softmax: bool,
    max_iterations: int,
) -> Head:
    """A logistic regression on standardized vectors; fitting begins with the head `like`."""
    start = (
        None
        if like is None
        else LinearProbe(*(array.astype(np.float64) for array in like.layers[0]))
    )
    probe = fit_linear(
        vectors,
        targets,
        softmax=softmax,
        penalty=penalty,
        start=start,
        max_iterations=max_iterations,
    )
    return Head((Layer(probe.weights.astype(np.float32), probe.intercepts.astype(np.float32)),))
