"""BM25: how well texts fit a query by its words (Robertson and Zaragoza 2009).

The variant is Lucene's: ln(1 + (N - n + ½) / (n + ½)) · f / (f + k₁ (1 - b + b · length / mean)),
summed over the query's words, where n of N texts have the word, this one f times. Knows nothing
of how texts are cut into words.
"""

from collections import Counter
from collections.abc import Sequence
from math import log

import numpy as np
import numpy.typing as npt

from malmoi.search.postings import Postings, Small
from malmoi.vectors import Matrix

K1, B = 1.2, 0.75

Mask = npt.NDArray[np.bool_]


def score_words(
    postings: Sequence[Postings], alive: Sequence[Mask], words: Sequence[str]
) -> Matrix:
    """The score of every text, of the first postings first; texts not alive do not count."""
    starts = np.cumsum([0, *(len(part.lengths) for part in postings)])
    scores = np.zeros(starts[-1], dtype=np.float32)
    texts = sum(int(mask.sum()) for mask in alive)
    length = sum(int(part.lengths[mask].sum()) for part, mask in zip(postings, alive, strict=True))
    if length == 0:
        return scores
    for word, times in Counter(words).items():
        found = [part.of(word) for part in postings]
        weight = times * _rarity(found, alive, texts)
        for start, part, (rows, counts) in zip(starts, postings, found, strict=False):
            slack = K1 * (1 - B + B * part.lengths[rows] * (texts / length))
            scores[start + rows.astype(np.int64)] += weight * counts / (counts + slack)
    return scores


def highest_score(
    postings: Sequence[Postings], alive: Sequence[Mask], words: Sequence[str]
) -> float:
    """What no text's score exceeds, however often it has the words: the sum of their weights.

    Words that no text has count as the rarest, so that a query of unknown words matches little.
    """
    texts = sum(int(mask.sum()) for mask in alive)
    each = Counter(words).items()
    return sum(
        times * _rarity([part.of(word) for part in postings], alive, texts) for word, times in each
    )


def _rarity(found: Sequence[tuple[Small, Small]], alive: Sequence[Mask], texts: int) -> float:
    """ln(1 + (N - n + ½) / (n + ½))."""
    having = sum(int(mask[rows].sum()) for mask, (rows, _) in zip(alive, found, strict=True))
    return log(1 + (texts - having + 0.5) / (having + 0.5))
