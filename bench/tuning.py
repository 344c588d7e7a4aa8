"""Tuning minilm on STS-B: the dev score it reaches, and examples/s beside sentence-transformers.

Times are CPU seconds of one thread, ours and theirs in turn, so that a loaded machine slows both.
"""

import random
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bench.data import Data
from bench.measure import Figure, say
from bench.sentences import MODEL, STSB
from malmoi.encode.checkpoint.locate import find_model
from malmoi.encode.encoder import load_transformer
from malmoi.errors import MalmoiWarning
from malmoi.evaluate.sets.sentence_sets import SentencePair, read_sentences
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.data.batches import epoch_batches
from malmoi.tune.data.examples import read_examples
from malmoi.tune.data.numbering import number_data
from malmoi.tune.sentence.settings import TuneSettings
from malmoi.tune.sentence.tuning import new_trainer, tune_sentence

TRAIN = STSB.with_name("stsb-en-train.csv")
PAIRS, BATCH_SIZE, ROUNDS, EPOCHS = 128, 16, 2, 2
RATE, HIGHEST_SCORE = 5e-5, 5.0
FROZEN = 3
BEST = TuneSettings(epochs=1, freeze_layers=FROZEN, learning_rate=RATE, threads=1)
# Settings, and how many times faster they are to be.
SPEEDS: tuple[tuple[str, dict[str, Any], float | None], ...] = (
    ("packed, all layers", {}, 2.0),
    (f"lower {FROZEN} frozen, cached", {"freeze_layers": FROZEN}, 3.5),
    ("all that the peer trains", {"train_embeddings": True, "dropout": 0.1}, None),
)
ASKED_SPEARMAN = 87.6
REMARK = (
    "The peer is a loop of sentence-transformers' model, collation and CosineSimilarityLoss with"
    " fused AdamW and dropout 0.1, as its trainer steps: it trains the table of tokens too, which"
    " ours does, with dropout, in the third line only. Examples per CPU second of one thread,"
    f" batches of {BATCH_SIZE}, tokenizing and caching included, {EPOCHS} epochs of {PAIRS} pairs."
)


def run(data: Data) -> Iterator[Figure]:
    """Speeds, then the score after one epoch; none where STS-B is not there."""
    if not TRAIN.is_file():
        say(f"no {TRAIN} (set MALMOI_DATA): tuning is left out")
        return
    warnings.simplefilter("ignore", MalmoiWarning)
    pairs = list(read_sentences(TRAIN).pairs)
    random.Random(0).shuffle(pairs)
    some = pairs[:PAIRS]
    say(f"{EPOCHS} epochs of {PAIRS} pairs of STS-B, {ROUNDS} rounds in turn")
    tasks = [lambda changes=changes: ours(some, **changes) for _, changes, _ in SPEEDS]
    *mine, peer = _best(ROUNDS, [*tasks, lambda: theirs(some)])
    for (name, _, at_least), took in zip(SPEEDS, mine, strict=True):
        yield Figure(
            name=name,
            ours=f"{EPOCHS * PAIRS / took:.1f}/s",
            peer=f"{EPOCHS * PAIRS / peer:.1f}/s",
            ratio=peer / took,
            asked="" if at_least is None else f"≥ {at_least:g}×",
            met=None if at_least is None else peer / took >= at_least,
            remark=REMARK if at_least == SPEEDS[0][2] else "",
        )
    say(f"one epoch of {len(pairs):,} pairs, lower {FROZEN} layers frozen")
    result = tune_sentence(
        TRAIN, MODEL, data.folder / "tuned", BEST, dev=STSB, reporter=SilentReporter()
    )
    before, after = (100 * (score.value or 0.0) for score in (result.before, result.after) if score)
    yield Figure(
        name="STS-B dev, Spearman",
        ours=f"{after:.2f}",
        peer=f"{before:.2f}",
        asked=f"≥ {ASKED_SPEARMAN}",
        met=after >= ASKED_SPEARMAN,
        remark=f"The peer of the score is the untuned {MODEL}: {result.sentence}.",
    )


def ours(pairs: list[SentencePair], **changes: Any) -> None:
    """Tokenize, cache and train."""
    import torch

    torch.set_num_threads(1)
    settings = TuneSettings(threads=1, batch_size=BATCH_SIZE, learning_rate=RATE, **changes)
    encoder, quiet = load_transformer(MODEL), SilentReporter()
    sets = [read_examples(pairs, "cosine", reporter=quiet)]
    numbered = number_data(encoder, sets, None, None, quiet)
    trainer = new_trainer(encoder, sets, numbered, settings)
    trainer.cache_states(quiet)
    for epoch in range(EPOCHS):
        for batch in epoch_batches(numbered.sets, BATCH_SIZE, 1, epoch):
            trainer.step(batch, RATE)


def theirs(pairs: list[SentencePair]) -> None:
    """The same with the modules of sentence-transformers."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss

    torch.set_num_threads(1)
    model: Any = SentenceTransformer(str(find_model(MODEL)), device="cpu")
    model.train()
    loss: Any = CosineSimilarityLoss(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.0, fused=True)
    for epoch in range(EPOCHS):
        order = np.random.default_rng(epoch).permutation(len(pairs))
        for start in range(0, len(order), BATCH_SIZE):
            rows = [pairs[i] for i in order[start : start + BATCH_SIZE]]
            columns = [[row[side] for row in rows] for side in (0, 1)]
            features = [model.preprocess(column) for column in columns]
            labels = torch.tensor([row.score / HIGHEST_SCORE for row in rows])
            loss(features, labels).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()


def _best(rounds: int, tasks: list[Callable[[], None]]) -> list[float]:
    """The least CPU time of each task in seconds; they take turns."""
    best = [float("inf")] * len(tasks)
    for _ in range(rounds):
        for number, task in enumerate(tasks):
            start = time.process_time()
            task()
            best[number] = min(best[number], time.process_time() - start)
    return best
