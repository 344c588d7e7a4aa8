"""Learns layer weights for a task: how much each layer counts in the vector of a text.

The vectors of all texts in all layers are computed once; what follows takes seconds.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.encode.bulk.recipe_sweep import stream_recipes
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder, expect_contextual
from malmoi.encode.pipeline.recipe_encoder import save_recipe
from malmoi.encode.pooling.recipes import Recipe
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.scores import Score, accuracy
from malmoi.evaluate.suites.differences import compare_means
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.tune.data.label_checks import without_rare_labels
from malmoi.tune.data.labelled_set import LabelledSet, read_labelled_set
from malmoi.tune.data.splits import split_texts, stratified_sample
from malmoi.tune.data.tables import DataSource
from malmoi.tune.layers.result import LayerResult, recipe_card
from malmoi.tune.layers.scalar_mix import LayerRows, MixedProbe, learn_mix
from malmoi.tune.layers.settings import LayerSettings
from malmoi.tune.saving import check_target

VALIDATION_SHARE = 0.2  # of the texts to learn from: γ is chosen on them


def learn_layer_weights(
    encoder: ContextualEncoder,
    data: DataSource,
    settings: LayerSettings = LayerSettings(),  # noqa: B008  it is frozen
    *,
    out: str | Path | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> LayerResult:
    """Learn the weights s and the scale γ of a model's layers for texts with classes.

    Peters et al. 2018, eq. 1: the vector of a text is γ Σ softmax(s)ⱼ hⱼ. A linear classifier is
    learned with them, on most of the texts; the others test it.

    Args:
        encoder: An encoder with layers.
        data: Rows of a text and its class: a file, a table, or a list of tuples.
        settings: Columns, pooling, split and seed.
        out: A folder to save the recipe in; `load_encoder` opens it.
        reporter: Receives progress and warnings.

    Returns:
        The recipe, which `encode` takes, and the accuracy of each layer.

    Raises:
        InvalidFileError: The file cannot be read, or `out` exists already.
        InvalidArgumentError: The rows are not texts with classes, or the encoder has no layers.
    """
    expect_contextual(encoder)
    expect_reporter(reporter)
    started = time.monotonic()
    if out is not None:
        check_target(Path(out))
    labelled = _limited(read_classes(data, settings.columns, reporter), settings)
    split = split_texts(labelled, settings.test_share, settings.seed)
    if split.repeats:
        reporter.warn(
            f"{labelled.source}: {split.repeats:,} texts are not tested: they occur more than once"
        )
    rows = layer_rows(encoder, labelled, settings, reporter)
    trained = classify_layers(rows.take(split.train), rows.take(split.test), settings.seed)
    result = LayerResult(
        model=encoder.name,
        name=labelled.name,
        recipe=replace(
            _recipe(settings),
            layers="all",
            layer_pooling="weighted",
            weights=tuple(round(weight, 4) for weight in trained.mix.weights.tolist()),
            scale=float(f"{trained.mix.scale:.4g}"),
        ),
        layers=tuple(map(_score, trained.single)),
        average=_score(trained.average),
        learned=_score(trained.learned),
        difference=compare_means(max(trained.single, key=np.mean), trained.learned),
        classes=labelled.names,
        train_texts=len(split.train),
        test_texts=len(split.test),
        repeats=split.repeats,
        seconds=time.monotonic() - started,
    )
    if out is not None:
        save_recipe(result.recipe, encoder.name, Path(out), recipe_card(result, Path(out).name))
    return result


class ClassifiedLayers(NamedTuple):
    """The learned mix, and whether each test text is classified right, in three ways."""

    mix: MixedProbe
    single: list[Float64Array]  # by each layer alone
    average: Float64Array
    learned: Float64Array


def classify_layers(train: LayerRows, test: LayerRows, seed: int) -> ClassifiedLayers:
    """Learn on some texts and classify others, by each layer, by their mean and by the mix."""
    held_out = stratified_sample(train.classes, VALIDATION_SHARE, seed)

    def hits(probe: MixedProbe, rows: LayerRows) -> Float64Array:
        right = probe.predict(rows.layers) == rows.classes
        return np.asarray(right, np.float64)

    mix = learn_mix(train, held_out)
    count = len(train.layers)
    single = [hits(learn_mix(train.only(i), held_out), test.only(i)) for i in range(count)]
    average = hits(learn_mix(train.averaged(), held_out), test.averaged())
    return ClassifiedLayers(mix, single, average, hits(mix, test))


def read_classes(data: DataSource, columns: Sequence[str], reporter: Reporter) -> LabelledSet:
    """Texts with one label each, of labels with enough texts."""
    labelled = without_rare_labels(read_labelled_set(data, columns, reporter=reporter), reporter)
    if labelled.multi_label:
        raise InvalidArgumentError(
            f"texts of {labelled.source} have several labels: layer weights are learned for one"
        )
    return labelled


def _limited(data: LabelledSet, settings: LayerSettings) -> LabelledSet:
    if len(data) <= settings.max_texts:
        return data
    share = settings.max_texts / len(data)
    return data.take(stratified_sample(data.first_labels, share, settings.seed))


def layer_rows(
    encoder: ContextualEncoder, data: LabelledSet, settings: LayerSettings, reporter: Reporter
) -> LayerRows:
    """The vectors of all texts in every layer."""
    count = encoder.config.num_states
    recipes = [replace(_recipe(settings), layers=layer) for layer in range(count)]
    progress, done = reporter.stage("embedding", "texts"), 0
    layers = np.empty((count, len(data), encoder.config.dim), np.float32)
    for chunk in stream_recipes(encoder, data.texts, recipes, reporter=reporter):
        layers[:, done : done + len(chunk[0])] = chunk
        done += len(chunk[0])
        progress(done, len(data))
    return LayerRows(layers, data.first_labels)


def _recipe(settings: LayerSettings) -> Recipe:
    return Recipe(
        pool=settings.pool, include_special_tokens=False if settings.skip_special else None
    )


def _score(hits: Float64Array) -> Score:
    return accuracy(int(hits.sum()), len(hits), len(hits))
