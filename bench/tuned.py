"""What tuning minilm on STS-B is worth: dev scores of three seeds beside sentence-transformers'.

One epoch each with the same settings, one thread. Choosing the best of several states on the dev
set would be optimistic: the score of the last state is the figure.
"""

import warnings
from collections.abc import Iterator
from statistics import fmean
from typing import Any

import numpy as np

from bench.data import Data
from bench.measure import Figure, say
from bench.sentences import MODEL, STSB
from bench.tuning import FROZEN, RATE, TRAIN, theirs
from malmoi.errors import MalmoiWarning
from malmoi.evaluate.scores import spearman
from malmoi.evaluate.sentences import pair_cosines
from malmoi.evaluate.sets.sentence_sets import read_sentences
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.sentence.settings import TuneSettings
from malmoi.tune.sentence.tuning import tune_sentence

SEEDS = (1, 2, 3)
ASKED_SPEARMAN = 87.6
WAYS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("all layers", {}),
    (f"lower {FROZEN} frozen", {"freeze_layers": FROZEN}),
)


def run(data: Data) -> Iterator[Figure]:
    """Scores of all seeds; none where STS-B is not there."""
    if not TRAIN.is_file():
        say(f"no {TRAIN} (set MALMOI_DATA): tuning is left out")
        return
    warnings.simplefilter("ignore", MalmoiWarning)
    say(f"one epoch with seeds {SEEDS} by the peer, which takes long")
    peer = [their_score(seed) for seed in SEEDS]
    for name, changes in WAYS:
        histories = [our_history(data, seed, **changes) for seed in SEEDS]
        yield figure_of(name, histories, peer)


def figure_of(name: str, histories: list[list[float]], peer: list[float]) -> Figure:
    """The least score of the last states; the peer's is the mean."""
    last = [history[-1] for history in histories]
    best = [max(history[1:]) for history in histories]
    return Figure(
        name=f"STS-B dev, {name}",
        ours=f"{min(last):.2f}",
        peer=f"{fmean(peer):.2f}",
        asked=f"≥ {ASKED_SPEARMAN}",
        met=min(last) >= ASKED_SPEARMAN,
        remark=f"{name}: Spearman × 100 of the worst of {len(last)} seeds beside the peer's mean."
        f" Ours {_shown(last)}, mean {fmean(last):.2f}; the best states {_shown(best)}; the peer"
        f" {_shown(peer)}; untuned {histories[0][0]:.2f}. One epoch, learning rate {RATE:g}.",
    )


def our_history(data: Data, seed: int, **changes: Any) -> list[float]:
    """The dev scores of a tuning, the untuned model first."""
    settings = TuneSettings(epochs=1, learning_rate=RATE, threads=1, seed=seed, **changes)
    out = data.folder / f"tuned-{seed}-{len(changes)}"
    result = tune_sentence(TRAIN, MODEL, out, settings, dev=STSB, reporter=SilentReporter())
    return [100 * score for _, score in result.history]


def their_score(seed: int) -> float:
    """The dev score of the peer after the same epoch."""
    pairs, dev = read_sentences(TRAIN).pairs, read_sentences(STSB).pairs
    model = theirs(list(pairs), 1, epochs=1, seed=seed)()
    first, second = (
        model.encode([pair[side] for pair in dev], show_progress_bar=False) for side in (0, 1)
    )
    scores = np.array([pair.score for pair in dev])
    value = spearman(pair_cosines(first, second), scores)
    return 100 * (value or 0.0)


def _shown(scores: list[float]) -> str:
    return ", ".join(f"{score:.2f}" for score in scores)
