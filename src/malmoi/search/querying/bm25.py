"""BM25: the lexical score of texts for a query (Robertson and Zaragoza 2009).

The variant is Lucene's: ln(1 + (N - n + ½) / (n + ½)) · f / (f + k₁ (1 - b + b · length / mean)),
summed over the query's words, where n of N texts have the word, this one f times. Knows nothing
of how texts are split into words.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log

import numpy as np

from malmoi.arrays import BoolArray, Float32Array
from malmoi.search.storage.postings import Postings

K1, B = 1.2, 0.75


def score_words(
    postings: Sequence[Postings], alive: Sequence[BoolArray], words: Sequence[str]
) -> Float32Array:
    """The score of every text, in the order of the postings; dead texts do not count."""
    weights = word_weights(postings, alive, words)
    return weighted_scores(postings, weights, mean_length(postings, alive))


def weighted_scores(
    postings: Sequence[Postings], weights: Mapping[str, float], mean: float
) -> Float32Array:
    """The score of every text, from the weights of words and the mean number of words per text."""
    starts = np.cumsum([0, *(len(part.lengths) for part in postings)])
    # double precision, so that rounding does not depend on the order of the words
    scores = np.zeros(starts[-1], dtype=np.float64)
    if mean == 0:
        return scores.astype(np.float32)
    for word, weight in weights.items():
        for start, part in zip(starts, postings, strict=False):
            rows, counts = part.of(word)
            slack = K1 * (1 - B + B * part.lengths[rows] * (1 / mean))
            scores[start + rows.astype(np.int64)] += weight * counts / (counts + slack)
    return scores.astype(np.float32)


def word_weights(
    postings: Sequence[Postings], alive: Sequence[BoolArray], words: Sequence[str]
) -> dict[str, float]:
    """The weight of each word of a query among the living texts."""
    texts, having = sum(int(mask.sum()) for mask in alive), {}
    for word in dict.fromkeys(words):
        parts = zip(postings, alive, strict=True)
        having[word] = sum(int(mask[part.of(word)[0]].sum()) for part, mask in parts)
    return weights_of(words, having, texts)


def weights_of(words: Sequence[str], having: Mapping[str, int], texts: int) -> dict[str, float]:
    """ln(1 + (N - n + ½) / (n + ½)) of each word, times its count in the query.

    `having[word]` of so many texts have a word. No text's score exceeds the sum of weights. Words
    that no text has weigh the most, so that texts match a query of unknown words only a little.
    """
    return {
        word: times * log(1 + (texts - having[word] + 0.5) / (having[word] + 0.5))
        for word, times in Counter(words).items()
    }


def score_text(weights: Mapping[str, float], text: Sequence[str], mean: float) -> float:
    """The score of a text outside the postings, from the word weights of a query."""
    counts, slack = Counter(text), K1 * (1 - B + B * len(text) / (mean or 1))
    return sum(weight * counts[word] / (counts[word] + slack) for word, weight in weights.items())


def mean_length(postings: Sequence[Postings], alive: Sequence[BoolArray]) -> float:
    """The mean number of words per text."""
    texts = sum(int(mask.sum()) for mask in alive)
    parts = zip(postings, alive, strict=True)
    return sum(int(part.lengths[mask].sum()) for part, mask in parts) / max(1, texts)
