"""Pretrains an ELMo model on a text: corpus, training loop, perplexities."""

from dataclasses import replace
from functools import partial
from math import exp
from typing import TYPE_CHECKING

from malmoi.arguments import settings_or_default
from malmoi.errors import InvalidArgumentError
from malmoi.extras import require
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.text.tokenizers import Tokenizer
from malmoi.train.common.inputs import TextInput, encode_text
from malmoi.train.common.loop import TrainingLoop
from malmoi.train.common.options import (
    DEFAULT_OPTIONS,
    TrainOptions,
    expect_options,
    open_checkpointer,
)
from malmoi.tune.elmo.batches import SentenceBatch, epoch_batches
from malmoi.tune.elmo.initial_softmax import lsa_softmax, random_softmax
from malmoi.tune.elmo.ngram_baseline import ngram_perplexity
from malmoi.tune.elmo.result import Perplexities, PretrainedElmo
from malmoi.tune.elmo.sentences import prepare_text
from malmoi.tune.elmo.settings import Elmo

if TYPE_CHECKING:
    from malmoi.tune.elmo.trainer import ElmoTrainer


def train_elmo(
    text: TextInput,
    settings: Elmo | None = None,
    *,
    tokenizer: Tokenizer | str | None = None,
    options: TrainOptions = DEFAULT_OPTIONS,
    reporter: Reporter = DEFAULT_REPORTER,
) -> PretrainedElmo:
    """Pretrain an ELMo model on a text; `save_elmo` writes it as a folder.

    Args:
        text: Path of a file or folder; sentences as strings or as lists of tokens, in a list, a
            generator, a Series or an array; a `Corpus` or an `EncodedCorpus`. A line is a sentence,
            or several; long lines are cut.
        settings: The network and its training; the defaults of `Elmo` if not given.
        tokenizer: A tokenizer or its name, such as "korean"; splits at white space if not given.
            The folder names it, so that texts are tokenized in the same way later.
        options: `checkpoint` and `resume`; initial vectors are not supported.
        reporter: Receives progress in words, the loss of each batch, and warnings.

    Returns:
        The weights, and the perplexity of held-out sentences in both directions beside those of
        n-gram models.

    Raises:
        InvalidArgumentError: The text has too few words, initial vectors are given, or the training
            diverges.
        InvalidFileError: The text or the checkpoint cannot be read.
        MissingDependencyError: torch is not installed.
    """
    expect_reporter(reporter)
    expect_options(options)
    settings = settings_or_default(settings, Elmo)
    if options.init_vectors is not None:
        raise InvalidArgumentError("train_elmo does not support init_vectors: leave them out")
    require("torch", extra="train")
    from malmoi.models.nnlm_network import repeatable
    from malmoi.tune.elmo.trainer import ElmoTrainer

    corpus = encode_text(text, None, tokenizer, reporter)
    # A run may resume with another limit of time; threads are left out for all trainings.
    lasting = replace(settings, minutes=None, eval_minutes=Elmo.eval_minutes, ngrams=True)
    checkpointer = open_checkpointer(options, lasting, corpus.ids, corpus.vocabulary)
    prepared = prepare_text(corpus, settings)
    if settings.lsa and checkpointer.restored is None:
        softmax = lsa_softmax(prepared, settings, reporter)
    else:
        softmax = random_softmax(prepared, settings)
    with repeatable(settings.seed, settings.threads):
        trainer = ElmoTrainer(prepared, settings, softmax)
        loop = TrainingLoop(
            trainer=trainer,
            epoch_batches=partial(
                epoch_batches, prepared.train, settings.batch_size, settings.seed
            ),
            examples=prepared.train.num_predicted,
            settings=settings,
            checkpointer=checkpointer,
            reporter=reporter,
            name="pretraining",
            unit="words",
            eval_seconds=None if settings.eval_steps else 60 * settings.eval_minutes,
        )
        return _trained(loop, trainer, corpus.tokenizer)


def _trained(
    loop: "TrainingLoop[SentenceBatch]", trainer: "ElmoTrainer", tokenizer: str
) -> PretrainedElmo:
    """Run the loop, and measure its result on all held-out sentences."""
    from malmoi.tune.elmo.held_out import HeldOutPerplexity
    from malmoi.tune.elmo.network.export import hdf5_weights

    text, settings = trainer.text, trainer.settings
    loop.dev = held_out = HeldOutPerplexity(trainer)
    loop.restore()
    state = loop.run()
    return PretrainedElmo(
        weights=hdf5_weights(trainer.network),
        softmax=trainer.table.detach().numpy(),
        words=text.words,
        tokenizer=tokenizer,
        settings=settings,
        perplexity=Perplexities(*(exp(loss) for loss in held_out.losses())),
        ngrams=ngram_perplexity(text, loop.reporter) if settings.ngrams else None,
        predicted=text.held_out.num_predicted,
        trained=state.done,
        steps=state.step,
        best_step=state.best_step,
        seconds=state.seconds,
        stopped=state.stopped,
        history=tuple((step, exp(-score)) for step, score in state.history),
    )
