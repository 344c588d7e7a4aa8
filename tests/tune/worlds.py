"""A tiny model and examples for it."""

from pathlib import Path
from typing import Any

import numpy as np

from malmoi.reporting.reporter import Progress, Reporter
from tests.encode.checkpoints import save_model

WORDS = ["the", "bank", "river", "robber", "robbers", "fish", "fishing", "a"]
QUIET: dict[str, Any] = {
    "threads": 1,
    "batch_size": 4,
    "epochs": 2,
    "learning_rate": 1e-3,
    "precision": "float32",  # the same on all processors
}


def tiny_model(folder: Path, family: str = "bert") -> str:
    """A model with random weights, which knows `WORDS`."""
    folder.mkdir()
    save_model(folder, family)
    return str(folder)


def random_texts(count: int, seed: int = 0) -> list[str]:
    """Different texts of one to nine words."""
    random = np.random.default_rng(seed)
    texts: dict[str, None] = {}
    while len(texts) < count:
        texts[" ".join(random.choice(WORDS, random.integers(1, 10)))] = None
    return list(texts)


def scored_pairs(count: int, seed: int = 0) -> list[tuple[str, str, float]]:
    """Pairs whose score is the share of common words."""
    texts = random_texts(2 * count, seed)
    pairs = list(zip(texts[::2], texts[1::2], strict=True))

    def overlap(one: str, other: str) -> float:
        first, second = set(one.split()), set(other.split())
        return len(first & second) / len(first | second)

    return [(one, other, overlap(one, other)) for one, other in pairs]


class StopAfter(Reporter):
    """Raises KeyboardInterrupt after so many losses; ignores warnings."""

    def __init__(self, losses: int) -> None:
        self.left = losses

    def loss(self, loss: float) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt

    def warn(self, sentence: str) -> None:
        return

    def stage(self, name: str, unit: str = "") -> Progress:
        return lambda done, total: None
