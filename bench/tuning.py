"""Tuning minilm on STS-B: examples/s beside sentence-transformers' own trainer.

Times of one thread are CPU seconds, ours and theirs in turn, so that a loaded machine slows both;
those of two threads are seconds.
"""

import random
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bench.data import Data
from bench.measure import Figure, say
from bench.sentences import MODEL, STSB
from malmoi.encode.checkpoint.locate import find_model
from malmoi.encode.encoder import load_transformer
from malmoi.errors import MalmoiWarning
from malmoi.evaluate.sets.sentence_sets import SentencePair, read_sentences
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.data.batches import ExampleBatch, epoch_batches
from malmoi.tune.data.examples import read_examples
from malmoi.tune.data.numbering import number_data
from malmoi.tune.sentence.settings import TuneSettings
from malmoi.tune.sentence.tuning import new_trainer

TRAIN = STSB.with_name("stsb-en-train.csv")
PAIRS, BATCH_SIZE, ROUNDS, EPOCHS = 128, 16, 2, 2
RATE, WARMUP, HIGHEST_SCORE = 5e-5, 0.1, 5.0
FROZEN = 3
THREADS = 2
REMARK = (
    "The peer is SentenceTransformerTrainer with CosineSimilarityLoss, by default with dropout 0.1,"
    " all weights trained, no evaluation, no logging; the time of its train() alone. Ours includes"
    f" tokenizing and caching. Batches of {BATCH_SIZE}, {EPOCHS} epochs of {PAIRS} pairs, best of"
    f" {ROUNDS} rounds in turn; examples per CPU second of one thread, per second of two threads."
)


class Measure(NamedTuple):
    """Something that makes tuning faster, with all measures before it."""

    name: str
    changes: dict[str, Any]
    is_sorted: bool = True
    at_least: float | None = None


PEER_LIKE = {"train_embeddings": True, "dropout": 0.1, "precision": "float32"}
LADDER = (
    Measure("packed, both sides at once", PEER_LIKE, is_sorted=False),
    Measure("+ batches by length", PEER_LIKE),
    Measure("+ token table not trained", PEER_LIKE | {"train_embeddings": False}),
    Measure("+ no dropout", {"precision": "float32"}),
    Measure("+ bfloat16: the default", {}, at_least=2.0),
    Measure(f"+ lower {FROZEN} frozen, cached", {"freeze_layers": FROZEN}, at_least=3.5),
    Measure(
        "frozen, cached, float32",
        {"freeze_layers": FROZEN, "precision": "float32"},
        at_least=3.5,
    ),
)


def run(data: Data) -> Iterator[Figure]:
    """Speeds with one thread and with two; none where STS-B is not there."""
    if not TRAIN.is_file():
        say(f"no {TRAIN} (set MALMOI_DATA): tuning is left out")
        return
    warnings.simplefilter("ignore", MalmoiWarning)
    pairs = list(read_sentences(TRAIN).pairs)
    random.Random(0).shuffle(pairs)
    some, remark = pairs[:PAIRS], REMARK
    for threads, clock, ladder in (
        (1, time.process_time, LADDER),
        (THREADS, time.perf_counter, [each for each in LADDER if each.at_least is not None]),
    ):
        say(f"{EPOCHS} epochs of {PAIRS} pairs of STS-B, {ROUNDS} rounds, threads: {threads}")
        tasks = [partial(ours, some, each, threads) for each in ladder]
        *mine, peer = _best(ROUNDS, clock, [*tasks, partial(theirs, some, threads)])
        for each, took in zip(ladder, mine, strict=True):
            asked = each.at_least
            yield Figure(
                name=each.name if threads == 1 else f"{each.name.strip('+ ')}, {threads} threads",
                ours=f"{EPOCHS * PAIRS / took:.1f}/s",
                peer=f"{EPOCHS * PAIRS / peer:.1f}/s",
                ratio=peer / took,
                asked="" if asked is None else f"≥ {asked:g}×",
                met=None if asked is None else peer / took >= asked,
                remark=remark,
            )
            remark = ""


def ours(pairs: list[SentencePair], measure: Measure, threads: int) -> Callable[[], None]:
    """A task that tokenizes, caches and trains."""
    import torch

    torch.set_num_threads(threads)
    settings = TuneSettings(
        threads=threads, batch_size=BATCH_SIZE, learning_rate=RATE, **measure.changes
    )
    encoder, quiet = load_transformer(MODEL), SilentReporter()
    sets = [read_examples(pairs, "cosine", reporter=quiet)]

    def task() -> None:
        numbered = number_data(encoder, sets, None, None, quiet)
        trainer = new_trainer(encoder, sets, numbered, settings)
        trainer.cache_states(quiet)
        for epoch in range(EPOCHS):
            batches = (
                epoch_batches(numbered.sets, BATCH_SIZE, 1, epoch)
                if measure.is_sorted
                else _unsorted(len(pairs), epoch)
            )
            for batch in batches:
                trainer.step(batch, RATE)

    return task


def _unsorted(examples: int, epoch: int) -> list[ExampleBatch]:
    order = np.random.default_rng(epoch).permutation(examples)
    starts = range(0, examples, BATCH_SIZE)
    return [ExampleBatch(0, order[start : start + BATCH_SIZE]) for start in starts]


def theirs(
    pairs: list[SentencePair], threads: int, *, epochs: int = EPOCHS, seed: int = 1
) -> Callable[[], Any]:
    """A task that trains by sentence-transformers' trainer and returns the model."""
    import torch
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss

    torch.set_num_threads(threads)
    model: Any = SentenceTransformer(str(find_model(MODEL)), device="cpu")
    columns = {f"sentence{side + 1}": [pair[side] for pair in pairs] for side in (0, 1)}
    scores = [pair.score / HIGHEST_SCORE for pair in pairs]
    arguments = SentenceTransformerTrainingArguments(
        output_dir=tempfile.gettempdir(),  # nothing is saved
        num_train_epochs=epochs,
        per_device_train_batch_size=BATCH_SIZE,
        learning_rate=RATE,
        warmup_steps=WARMUP,
        seed=seed,
        use_cpu=True,
        report_to="none",
        save_strategy="no",
        eval_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
        dataloader_pin_memory=False,
    )
    trainer: Any = SentenceTransformerTrainer(
        model=model,
        args=arguments,
        train_dataset=Dataset.from_dict({**columns, "score": scores}),
        loss=CosineSimilarityLoss(model),
    )

    def task() -> Any:
        trainer.train()
        return model

    return task


def _best(
    rounds: int, clock: Callable[[], float], tasks: Sequence[Callable[[], Callable[[], Any]]]
) -> list[float]:
    """The least time of each task, whose preparation is not counted; they take turns."""
    best = [float("inf")] * len(tasks)
    for _ in range(rounds):
        for number, prepare in enumerate(tasks):
            task = prepare()
            start = clock()
            task()
            best[number] = min(best[number], clock() - start)
    return best
