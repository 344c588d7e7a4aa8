"""Adapts an encoder to the raw text of a domain, and saves it as a sentence-transformers folder."""

import json
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from malmoi.encode.checkpoint.weights import sha256_of, weights_file
from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.scores import Score
from malmoi.evaluate.sets.sentence_sets import PairSource
from malmoi.extras import require
from malmoi.files.checkpoint import (
    Checkpointer,
    RunFingerprint,
    checkpoint_path,
    discard_checkpoint,
)
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.train.common.loop import TrainingLoop
from malmoi.tune.adapt.dev_set import DevSet, open_dev_set
from malmoi.tune.adapt.documents import DocumentSource, DomainCorpus, read_documents
from malmoi.tune.adapt.result import AdaptResult, perplexity
from malmoi.tune.adapt.settings import AdaptSettings
from malmoi.tune.model_card import command_line, model_card
from malmoi.tune.saving import check_target, save_tuned
from malmoi.tune.sentence.tuning import check_layers

if TYPE_CHECKING:
    from malmoi.tune.adapt.methods import Preparation
    from malmoi.tune.adapt.trainer import CorpusBatch

NOT_FINGERPRINTED = ("threads", "minutes", "mix")  # which may change when a run is resumed


def adapt(
    corpus: DocumentSource,
    model: str,
    out: str | PathLike[str],
    settings: AdaptSettings | None = None,
    *,
    dev: PairSource | None = None,
    resume: bool = False,
    reporter: Reporter = DEFAULT_REPORTER,
) -> AdaptResult:
    """Adapt an encoder to the raw text of a domain, and save it as a sentence-transformers folder.

    The state of the run is written every minute to a file beside `out`, so that it can resume.

    Args:
        corpus: A text file with one document per line; JSON lines, a table or Parquet; a BEIR
            folder or a folder of such files; a `Corpus`; or a list of texts.
        model: A model of the BERT family: a folder, a name on the Hub, or `minilm`.
        out: The folder to write; it must not exist yet.
        settings: How to adapt; the defaults of `AdaptSettings` if not given.
        dev: A BEIR folder, whose score is nDCG@10 of exact search, or pairs with scores. The
            folder then has the weights with the best score, and the result tells whether they are
            better than the old ones.
        resume: Continue an interrupted run with the same corpus and settings.
        reporter: Receives progress, losses and warnings.

    Returns:
        Perplexity and dev score, before and after, and the verdict.

    Raises:
        InvalidArgumentError: The corpus or settings do not fit the model.
        InvalidFileError: A file cannot be read, `out` exists, or it cannot be written.
        MissingDependencyError: torch is not installed.
    """
    settings, folder = settings or AdaptSettings(), Path(out)
    check_target(folder)
    require("torch", extra="train")
    from malmoi.models.nnlm_network import repeatable
    from malmoi.tune.adapt.methods import prepare

    encoder = _with_max_length(load_transformer(model), settings.max_length)
    check_layers(encoder, settings.freeze_layers)
    whole = read_documents(corpus, settings.field, settings.title_field, reporter)
    domain = whole.sample(settings.max_documents, settings.seed)
    with repeatable(settings.seed, settings.threads):
        prepared = prepare(encoder, domain.documents, settings, reporter)
        encode = prepared.trainer.vectors
        dev_set = None if dev is None else open_dev_set(dev, settings, encoder, encode)
        path = checkpoint_path(folder)
        run = _fingerprint(encoder, settings, domain, dev_set)
        loop = _loop(prepared, settings, Checkpointer(path, run, resume=resume), reporter)
        loop.dev = None if dev_set is None else dev_set.measure
        perplexities = _train(loop, prepared, settings.mix)
    dev_name = None if dev is None else str(dev) if isinstance(dev, str | Path) else "DEV"
    result = _result(
        loop,
        perplexities,
        dev_set,
        folder=folder,
        model=model,
        data=f"{domain.name}: {len(domain.documents):,} documents, {prepared.title}",
        command=command_line("adapt", model, [domain.name], folder, settings, dev_name),
    )
    card = model_card(result, settings)
    save_tuned(encoder, prepared.trainer.network, folder, card, prepared.saved_head())
    discard_checkpoint(path)
    return result


def _with_max_length(encoder: TransformerEncoder, tokens: int | None) -> TransformerEncoder:
    """The same encoder, which reads texts of more tokens, or of fewer."""
    if tokens is None:
        return encoder
    if tokens > encoder.config.positions:
        raise InvalidArgumentError(
            f"max_length is {tokens}, but {encoder.name} has {encoder.config.positions} positions:"
            " choose no more"
        )
    encoder.tokenizer.backend.enable_truncation(tokens)
    return replace(
        encoder,
        tokenizer=replace(encoder.tokenizer, max_length=tokens),
        modules=replace(encoder.modules, max_length=tokens),
    )


def _loop(
    prepared: "Preparation",
    settings: AdaptSettings,
    checkpointer: Checkpointer,
    reporter: Reporter,
) -> "TrainingLoop[CorpusBatch]":
    return TrainingLoop(
        trainer=prepared.trainer,
        epoch_batches=prepared.batches,
        examples=prepared.examples,
        settings=settings,
        checkpointer=checkpointer,
        reporter=reporter,
        name="adapting",
    )


def _train(
    loop: "TrainingLoop[CorpusBatch]", prepared: "Preparation", mix: float
) -> tuple[Score | None, Score | None]:
    """Run a loop; returns the perplexities of the initial weights and of the final ones."""
    trainer = prepared.trainer
    losses = [trainer.held_out_losses(prepared.held_out)]
    loop.restore()
    loop.run()
    if mix < 1:
        trainer.mix(mix)
        if loop.dev is not None:
            loop.details["best"] = loop.dev.measure().details
    losses.append(trainer.held_out_losses(prepared.held_out))
    before, after = (None if each is None else perplexity(*each) for each in losses)
    return before, after


def _result(
    loop: "TrainingLoop[CorpusBatch]",
    perplexities: tuple[Score | None, Score | None],
    dev: DevSet | None,
    *,
    folder: Path,
    model: str,
    data: str,
    command: str,
) -> AdaptResult:
    state = loop.state
    result = AdaptResult(
        folder=folder,
        model=model,
        data=(data,),
        command=command,
        examples=state.done,
        steps=state.step,
        best_step=state.best_step,
        seconds=state.seconds,
        stopped=state.stopped,
        history=state.history,
        perplexity_before=perplexities[0],
        perplexity_after=perplexities[1],
    )
    if dev is None:
        return result
    before, after = loop.details["before"], loop.details["best"]
    return replace(
        result,
        metric=dev.metric,
        before=dev.score(before),
        after=dev.score(after),
        difference=dev.difference(before, after),
    )


def _fingerprint(
    encoder: TransformerEncoder, settings: AdaptSettings, corpus: DomainCorpus, dev: DevSet | None
) -> RunFingerprint:
    by_name = {name: v for name, v in asdict(settings).items() if name not in NOT_FINGERPRINTED}
    weights = sha256_of(weights_file(encoder.modules.transformer))
    values = by_name | {"model": weights, "dev": None if dev is None else dev.digest}
    return RunFingerprint(json.loads(json.dumps(values)), corpus.digest, "an adaptation")
