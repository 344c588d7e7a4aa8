"""LexicalTeacher: BM25 of the queries and texts of a batch, by the words of a whole corpus.

Words are what an encoder of general language misses in a domain: names, terms, numbers. Its cosines
learn them from BM25, which needs no labels. Knows nothing of torch.
"""

from collections import Counter
from collections.abc import Sequence
from math import log

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.search.analyser import best_analyser
from malmoi.search.querying.bm25 import score_text


class LexicalTeacher:
    """Scores by the document frequencies of a corpus."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.analyser = best_analyser()
        self.texts = len(texts)
        self.having: Counter[str] = Counter()  # texts with each word
        words = 0
        for each in self.analyser.many(texts):
            self.having.update(set(each))
            words += len(each)
        self.mean_length = words / max(1, self.texts)

    def weights(self, query: Sequence[str]) -> dict[str, float]:
        """The inverse document frequency of each word, times its count in the query."""
        total = self.texts
        return {
            word: times * log(1 + (total - self.having[word] + 0.5) / (self.having[word] + 0.5))
            for word, times in Counter(query).items()
        }

    def scores(self, queries: Sequence[str], texts: Sequence[str]) -> Float32Array:
        """BM25 as a share of the highest value for each query, [queries, texts]."""
        each = list(self.analyser.many(texts))
        weights = [self.weights(words) for words in self.analyser.many(queries)]
        scores = np.array(
            [[score_text(own, words, self.mean_length) for words in each] for own in weights]
        )
        highest = scores.max(axis=1, keepdims=True)
        return (scores / np.where(highest > 0, highest, 1.0)).astype(np.float32)
