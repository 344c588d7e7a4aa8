"""What Word2Vec learns from, written out: pairs of words, and labelled ones with negatives.

For teaching and for tests: a training makes the same pairs inside its kernels, and keeps none.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from malmoi.errors import InvalidArgumentError
from malmoi.train.word2vec.settings import STEEPEST


class TrainingPair(NamedTuple):
    """A word, another, and whether that one truly stands beside it (1) or was drawn (0)."""

    input: str
    output: str
    label: int = 1


def window_pairs(tokens: Sequence[str], window: int = 2) -> list[TrainingPair]:
    """Every word with each word up to `window` away, from left to right."""
    if isinstance(tokens, str):
        raise InvalidArgumentError(f"'{tokens[:20]}' is a string: give its words as a list")
    if window < 1:
        raise InvalidArgumentError(f"window is {window}: it reaches at least 1 word far")
    return [
        TrainingPair(word, tokens[j])
        for i, word in enumerate(tokens)
        for j in range(max(0, i - window), min(len(tokens), i + window + 1))
        if j != i
    ]


def labelled_pairs(
    tokens: Sequence[str],
    window: int = 2,
    negatives: int = 2,
    *,
    power: float = 0.75,
    seed: int = 1,
) -> list[TrainingPair]:
    """Every pair of a window, followed by as many false ones as there are negatives.

    These are drawn from all the words by their counts to the `power`, never the true one.
    """
    if negatives < 0 or seed < 0:
        raise InvalidArgumentError(f"negatives is {negatives} and seed {seed}: both are at least 0")
    if not 0 <= power <= STEEPEST:
        raise InvalidArgumentError(f"power is {power}: give a number from 0 to {STEEPEST}")
    true = window_pairs(tokens, window)
    words, counts = np.unique(list(tokens), return_counts=True)
    if negatives and len(words) < 2:
        raise InvalidArgumentError(
            "there is no other word to draw: give at least 2 different words"
        )
    random = np.random.default_rng(seed)
    pairs = []
    for pair in true:
        others = words != pair.output
        weights = counts[others].astype(np.float64) ** power
        drawn = random.choice(words[others], negatives, p=weights / weights.sum())
        pairs += [pair, *(TrainingPair(pair.input, str(other), 0) for other in drawn)]
    return pairs
