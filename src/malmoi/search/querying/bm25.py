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
    starts = np.cumsum([0, *(len(part.lengths) for part in postings)])
    scores = np.zeros(starts[-1], dtype=np.float32)
    mean = mean_length(postings, alive)
    if mean == 0:
        return scores
    for word, weight in word_weights(postings, alive, words).items():
        for start, part in zip(starts, postings, strict=False):
            rows, counts = part.of(word)
            slack = K1 * (1 - B + B * part.lengths[rows] * (1 / mean))
            scores[start + rows.astype(np.int64)] += weight * counts / (counts + slack)
    return scores


def word_weights(
    postings: Sequence[Postings], alive: Sequence[BoolArray], words: Sequence[str]
) -> dict[str, float]:
    """ln(1 + (N - n + ½) / (n + ½)) of each word, times its count in the query.

    No text's score exceeds their sum. Words that no text has weigh the most, so that texts match a
    query of unknown words only a little.
    """
    texts, weights = sum(int(mask.sum()) for mask in alive), {}
    for word, times in Counter(words).items():
        parts = zip(postings, alive, strict=True)
        having = sum(int(mask[part.of(word)[0]].sum()) for part, mask in parts)
        weights[word] = times * log(1 + (texts - having + 0.5) / (having + 0.5))
    return weights


def score_text(weights: Mapping[str, float], text: Sequence[str], mean: float) -> float:
    """The score of a text outside the postings, from the word weights of a query."""
    counts, slack = Counter(text), K1 * (1 - B + B * len(text) / (mean or 1))
    return sum(weight * counts[word] / (counts[word] + slack) for word, weight in weights.items())


def mean_length(postings: Sequence[Postings], alive: Sequence[BoolArray]) -> float:
    """The mean number of words per text."""
    texts = sum(int(mask.sum()) for mask in alive)
    parts = zip(postings, alive, strict=True)
    return sum(int(part.lengths[mask].sum()) for part, mask in parts) / max(1, texts)
