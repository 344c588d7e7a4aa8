"""The training pairs of Word2Vec written out: pairs of a window, and negative samples.

For teaching and for tests: training makes such pairs inside its kernels and stores none.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from malmoi.arguments import expect
from malmoi.errors import InvalidArgumentError
from malmoi.train.word2vec.settings import MAX_NS_EXPONENT


class TrainingPair(NamedTuple):
    """An input word, an output word, and the label: 1 if in the window, 0 if sampled."""

    input: str
    output: str
    label: int = 1


def window_pairs(tokens: Sequence[str], window: int = 2) -> list[TrainingPair]:
    """Pair every word with each word of its window, from left to right.

    Args:
        tokens: The words of a text.
        window: Maximum distance between the two words of a pair.

    Returns:
        The pairs, all with label 1.

    Raises:
        InvalidArgumentError: `tokens` is a string, or `window` is below 1.
    """
    expect(tokens, Sequence, "tokens", "a list of words")
    if isinstance(tokens, str):
        raise InvalidArgumentError(f"'{tokens[:20]}' is a string: give its words as a list")
    if window < 1:
        raise InvalidArgumentError(f"window is {window}: it must be at least 1")
    return [
        TrainingPair(word, tokens[j])
        for i, word in enumerate(tokens)
        for j in range(max(0, i - window), min(len(tokens), i + window + 1))
        if j != i
    ]


def labelled_pairs(
    tokens: Sequence[str],
    window: int = 2,
    negative_samples: int = 2,
    *,
    ns_exponent: float = 0.75,
    seed: int = 1,
) -> list[TrainingPair]:
    """Pair every word with each word of its window, and each pair with negative samples.

    Args:
        tokens: The words of a text.
        window: Maximum distance between the two words of a pair.
        negative_samples: Words sampled for each pair, never the true one.
        ns_exponent: Sample words by count to this power.
        seed: The same seed draws the same words.

    Returns:
        Each pair of a window with label 1, followed by its negative samples with label 0.

    Raises:
        InvalidArgumentError: An argument is out of range, or there is only one word to draw.
    """
    expect(tokens, Sequence, "tokens", "a list of words")
    if negative_samples < 0 or seed < 0:
        raise InvalidArgumentError(
            f"negative_samples is {negative_samples} and seed {seed}: both must be at least 0"
        )
    if not 0 <= ns_exponent <= MAX_NS_EXPONENT:
        raise InvalidArgumentError(
            f"ns_exponent is {ns_exponent}: it must be from 0 to {MAX_NS_EXPONENT}"
        )
    positives = window_pairs(tokens, window)
    words, counts = np.unique(list(tokens), return_counts=True)
    if negative_samples and len(words) < 2:
        raise InvalidArgumentError("no other word to sample: give at least 2 distinct words")
    random = np.random.default_rng(seed)
    pairs = []
    for pair in positives:
        others = words != pair.output
        weights = counts[others].astype(np.float64) ** ns_exponent
        sampled = random.choice(words[others], negative_samples, p=weights / weights.sum())
        pairs += [pair, *(TrainingPair(pair.input, str(other), 0) for other in sampled)]
    return pairs
