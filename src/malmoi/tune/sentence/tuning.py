"""Tunes a sentence encoder on your own examples, and saves it as a sentence-transformers folder."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from malmoi.encode.checkpoint.locate import is_static
from malmoi.encode.checkpoint.weights import read_weights, sha256_of, weights_file
from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.encode.static.static_encoder import load_static
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.sets.sentence_sets import PairSource, SentenceSet, read_sentences
from malmoi.extras import require
from malmoi.files.checkpoint import (
    Checkpointer,
    RunFingerprint,
    checkpoint_path,
    discard_checkpoint,
)
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.train.common.loop import TrainingLoop
from malmoi.tune.data.batches import ExampleBatch, epoch_batches
from malmoi.tune.data.dev_pairs import DevPairs
from malmoi.tune.data.examples import ExampleSet, read_examples
from malmoi.tune.data.numbering import NumberedData, number_data
from malmoi.tune.data.tables import DataSource
from malmoi.tune.model_card import command_line, model_card
from malmoi.tune.result import TuneResult
from malmoi.tune.saving import check_target, save_tuned
from malmoi.tune.sentence.settings import TunePrecision, TuneSettings

if TYPE_CHECKING:
    from malmoi.tune.network.sentence_network import SentenceNetwork
    from malmoi.tune.sentence.trainer import SentenceTrainer

TuningData = DataSource | SentenceSet | Sequence[str | Path]
NOT_FINGERPRINTED = ("threads", "minutes")  # which may change when a run is resumed


class NetworkOptions(Protocol):
    """Which parts of a network are trained, and how."""

    @property
    def freeze_layers(self) -> int:
        """How many of the lowest layers are not trained."""

    @property
    def train_embeddings(self) -> bool:
        """Whether the table of tokens is trained."""

    @property
    def dropout(self) -> float:
        """The share of hidden values dropped."""

    @property
    def precision(self) -> TunePrecision:
        """The precision of products."""


def tune_sentence(
    data: TuningData,
    model: str,
    out: str | PathLike[str],
    settings: TuneSettings | None = None,
    *,
    dev: PairSource | None = None,
    resume: bool = False,
    reporter: Reporter = DEFAULT_REPORTER,
) -> TuneResult:
    """Tune a sentence encoder on examples, and save it as a sentence-transformers folder.

    The state of the run is written every minute to a file beside `out`, so that it can resume.

    Args:
        data: CSV, TSV, JSON lines or Parquet with one to three texts and perhaps a label per row;
            a DataFrame or Arrow table; a list of tuples or dicts; a `SentenceSet`; or a list
            of paths, which are used in proportion to their sizes.
        model: A model of the BERT family or a static encoder: a folder, a name on the Hub, or
            `minilm`. Static encoders are tuned by the objective `cosine`, in seconds.
        out: The folder to write; it must not exist yet.
        settings: How to tune; the defaults of `TuneSettings` if not given.
        dev: Pairs with scores. The folder then has the weights with the best Spearman correlation
            on them, and the result tells whether they are better than the untuned ones.
        resume: Continue an interrupted run with the same data and settings.
        reporter: Receives progress in examples, losses, the detected kind of the data, and
            warnings.

    Returns:
        Scores before and after, and the verdict.

    Raises:
        InvalidArgumentError: The data or settings do not fit each other or the model.
        InvalidFileError: A file cannot be read, `out` exists, or it cannot be written.
        MissingDependencyError: torch is not installed.
    """
    settings, folder = settings or TuneSettings(), Path(out)
    check_target(folder)
    if is_static(model):
        return _tune_table(data, model, folder, settings, dev=dev, reporter=reporter)
    require("torch", extra="train")
    from malmoi.models.nnlm_network import repeatable

    encoder = load_transformer(model)
    _check_settings(encoder, settings)
    sets = _read_sets(data, settings, reporter)
    _check_teacher(sets, settings)
    dev_set = None if dev is None else read_sentences(dev)
    numbered = number_data(encoder, sets, dev_set, settings.teacher, reporter)
    path = checkpoint_path(folder)
    checkpointer = Checkpointer(path, _fingerprint(encoder, settings, numbered), resume=resume)
    with repeatable(settings.seed, settings.threads):
        trainer = new_trainer(encoder, sets, numbered, settings)
        loop = _train(trainer, numbered, settings, checkpointer, reporter)
    command = command_line(
        "sentence", model, [one.source for one in sets], folder, settings, _dev_name(dev)
    )
    result = _result(loop, sets, numbered, folder, model=model, command=command)
    save_tuned(encoder, trainer.network, folder, model_card(result, settings))
    discard_checkpoint(path)
    return result


def _tune_table(
    data: TuningData,
    model: str,
    folder: Path,
    settings: TuneSettings,
    *,
    dev: PairSource | None,
    reporter: Reporter,
) -> TuneResult:
    """Tune a static encoder, which has a table of token vectors and no network."""
    from malmoi.tune.static.tune_pairs import tune_static

    sets = _read_sets(data, settings, reporter)
    command = command_line(
        "sentence", model, [one.source for one in sets], folder, settings, _dev_name(dev)
    )
    dev_set = None if dev is None else read_sentences(dev)
    return tune_static(
        sets,
        load_static(model),
        folder,
        settings,
        dev=dev_set,
        command=command,
        reporter=reporter,
    )


def _read_sets(data: TuningData, settings: TuneSettings, reporter: Reporter) -> list[ExampleSet]:
    return [
        read_examples(
            source,
            settings.objective,
            columns=settings.columns,
            seed=settings.seed,
            reporter=reporter,
        )
        for source in _sources(data)
    ]


def _dev_name(dev: PairSource | None) -> str | None:
    """The dev set in the command of the model card."""
    return None if dev is None else str(dev) if isinstance(dev, str | Path) else "DEV"


def _train(
    trainer: "SentenceTrainer",
    data: NumberedData,
    settings: TuneSettings,
    checkpointer: Checkpointer,
    reporter: Reporter,
) -> TrainingLoop[ExampleBatch]:
    """Train over all epochs."""

    def batches(epoch: int) -> list[ExampleBatch]:
        return epoch_batches(data.sets, settings.batch_size, settings.seed, epoch)

    if not batches(0):
        raise InvalidArgumentError(
            "there is no batch with in-batch negatives: pass at least two pairs that share no text"
        )
    dev = DevPairs(data.dev_texts, data.dev_scores, trainer.vectors)
    loop = TrainingLoop(
        trainer=trainer,
        epoch_batches=batches,
        examples=sum(map(len, data.sets)),
        settings=settings,
        checkpointer=checkpointer,
        reporter=reporter,
        dev=dev if len(data.dev_scores) else None,
    )
    loop.restore()
    trainer.cache_states(reporter)
    loop.run()
    return loop


def _result(
    loop: TrainingLoop[ExampleBatch],
    sets: Sequence[ExampleSet],
    data: NumberedData,
    folder: Path,
    *,
    model: str,
    command: str,
) -> TuneResult:
    state, scores = loop.state, data.dev_scores
    result = TuneResult(
        folder=folder,
        model=model,
        data=tuple(f"{one.source}: {len(one):,} examples, {one.title}" for one in sets),
        command=command,
        examples=state.done,
        steps=state.step,
        best_step=state.best_step,
        seconds=state.seconds,
        stopped=state.stopped,
        history=state.history,
    )
    if loop.dev is None:
        return result
    return result.with_scores(loop.details["before"], loop.details["best"], scores)


def new_trainer(
    encoder: TransformerEncoder,
    sets: Sequence[ExampleSet],
    data: NumberedData,
    settings: TuneSettings,
) -> "SentenceTrainer":
    """The network of an encoder with one objective per data set, ready for its first step."""
    from malmoi.tune.sentence.objectives import ObjectiveOptions, make_objective
    from malmoi.tune.sentence.trainer import SentenceTrainer

    network = network_to_tune(encoder, settings)
    objectives = [
        make_objective(
            one.objective,
            ObjectiveOptions(
                dim=encoder.dim,
                classes=len(one.classes),
                scale=settings.scale,
                margin=settings.margin,
            ),
            settings.matryoshka_dims,
        )
        for one in sets
    ]
    return SentenceTrainer(
        network,
        objectives,
        data.token_ids,
        data.sets,
        mini_batch_size=settings.mini_batch_size,
        weight_decay=settings.weight_decay,
    )


def network_to_tune(encoder: TransformerEncoder, settings: NetworkOptions) -> "SentenceNetwork":
    """The network of an encoder, of which the layers that are not frozen are trained."""
    from malmoi.tune.network.linear import has_bfloat16, multiply_in_bfloat16
    from malmoi.tune.network.sentence_network import SentenceNetwork

    weights = read_weights(weights_file(encoder.modules.transformer), encoder.config)
    network = SentenceNetwork(
        weights,
        encoder.config,
        encoder.modules,
        freeze_layers=settings.freeze_layers,
        train_embeddings=settings.train_embeddings,
        dropout=settings.dropout,
    )
    if settings.precision == "bfloat16" or (settings.precision == "auto" and has_bfloat16()):
        multiply_in_bfloat16(network.layers[settings.freeze_layers :])
    return network


def check_layers(encoder: TransformerEncoder, frozen: int) -> None:
    """Raise `InvalidArgumentError` if no layer would be left to train."""
    layers = encoder.config.layers
    if frozen >= layers:
        raise InvalidArgumentError(
            f"freeze_layers is {frozen}, but {encoder.name} has {layers} layers: freeze at most"
            f" {layers - 1}"
        )


def _sources(
    data: TuningData,
) -> list[DataSource | SentenceSet]:
    """The data sets: one, or several paths."""
    paths = [one for one in data if isinstance(one, str | Path)] if isinstance(data, list) else []
    if paths and len(paths) == len(cast(Sequence[Path], data)):
        return list(paths)
    return [cast(DataSource, data)]


def _check_settings(encoder: TransformerEncoder, settings: TuneSettings) -> None:
    check_layers(encoder, settings.freeze_layers)
    if max(settings.matryoshka_dims, default=0) > encoder.dim:
        raise InvalidArgumentError(
            f"matryoshka_dims are {settings.matryoshka_dims}, but the vectors of {encoder.name}"
            f" have {encoder.dim} dimensions: none may be larger"
        )
    if settings.matryoshka_dims and settings.objective == "mse":
        raise InvalidArgumentError(
            "objective mse compares whole vectors: leave out matryoshka_dims"
        )


def _check_teacher(sets: Sequence[ExampleSet], settings: TuneSettings) -> None:
    for one in sets:
        if one.objective == "mse" and settings.teacher is None:
            raise InvalidArgumentError(
                f"{one.source} has one text per row and no label: set objective to mse and name a"
                " teacher, whose vectors are the targets, or pass pairs"
            )


def _fingerprint(
    encoder: TransformerEncoder, settings: TuneSettings, data: NumberedData
) -> RunFingerprint:
    by_name = {name: v for name, v in asdict(settings).items() if name not in NOT_FINGERPRINTED}
    weights = sha256_of(weights_file(encoder.modules.transformer))
    values = json.loads(json.dumps(by_name | {"model": weights}))
    return RunFingerprint(values, data.digest, "a tuning")
