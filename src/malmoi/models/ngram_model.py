"""NgramModel: the probability of a word after the words before it, from n-grams.

A back-off model like those of ARPA files. A word seen after a context has a probability of
its own; any other word has the back-off weight of the context times its probability after
the context without its first word.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Float64Array, UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.counts.count_ngrams import words_before
from malmoi.models.language_model import LanguageModel
from malmoi.models.trie import Trie


@dataclass(frozen=True, eq=False, repr=False)
class NgramModel(LanguageModel):
    """`probabilities[m - 1]` and `backoffs[m - 1]` have one entry per n-gram of order m.

    The highest order has no back-off weights. `unseen` replaces the probability after
    the shorter context in models without back-off (0 without smoothing, 1 / words for add-k).
    """

    trie: Trie
    probabilities: tuple[Float64Array, ...]
    backoffs: tuple[Float64Array, ...]
    unseen: float | None = None

    def __post_init__(self) -> None:
        sizes = self.trie.sizes
        if [*map(len, self.probabilities)] != sizes or [*map(len, self.backoffs)] != sizes[:-1]:
            raise InvalidArgumentError(
                f"give one probability and one back-off weight for each of the {sizes} n-grams"
            )

    @property
    def order(self) -> int:
        """The number of words of the longest n-grams."""
        return self.trie.order

    def probability(self, word: str, context: Sequence[str] = ()) -> float:
        """Return P(word | context); see `LanguageModel.probability`."""
        ids = np.append(self._context(context), self.trie.ids([word]))
        return float(self.token_probabilities(ids)[-1])

    def distribution(self, context: Sequence[str] = ()) -> Float64Array:
        """Return P(word | context) of every word, by the trie's rows.

        They sum to 1, or to 0 if a model without smoothing has not seen the context.
        """
        ids = self._context(context)
        probabilities = self.probabilities[0].copy()
        for length in range(1, len(ids) + 1):
            if self.unseen is not None:
                probabilities[:] = self.unseen
                probabilities[self.trie.begin] = 0
            row = self.trie.row(ids[len(ids) - length :])
            if row >= 0:
                rows, words = self.trie.following(length, row)
                probabilities *= self.backoffs[length - 1][row]
                probabilities[words] = self.probabilities[length][rows]
        return probabilities

    def log_probabilities(self, ids: UInt32Array) -> Float64Array:
        """Return the natural log probability of each word and sentence end of a stream of ids."""
        tokens = self.trie.marked(ids)
        with np.errstate(divide="ignore"):
            logs: Float64Array = np.log(self.token_probabilities(tokens)[tokens != self.trie.begin])
        return logs

    def token_probabilities(self, tokens: UInt32Array) -> Float64Array:
        """Return P(token | the tokens before it in its line) of each token of a marked stream."""
        before = words_before(tokens, self.trie.begin)
        rows = tokens.astype(np.int64)  # of the n-gram that ends at each token, or -1
        probabilities = self.probabilities[0][rows]
        for order in range(2, self.order + 1):
            in_line = before >= order - 1
            contexts = np.where(in_line, np.r_[-1, rows[:-1]], -1)
            rows = self.trie.find(order, contexts, tokens)
            if self.unseen is not None:
                probabilities[in_line] = self.unseen
            has_context, is_seen = contexts >= 0, rows >= 0
            probabilities[has_context] *= self.backoffs[order - 2][contexts[has_context]]
            probabilities[is_seen] = self.probabilities[order - 1][rows[is_seen]]
        probabilities[tokens == self.trie.begin] = 0
        return probabilities

    def _context(self, words: Sequence[str]) -> UInt32Array:
        """Return the ids of the last order - 1 words of a context, none from before `<s>`."""
        ids = self.trie.ids(words)
        ids = ids[max(0, len(ids) - self.order + 1) :]
        starts = np.flatnonzero(ids == self.trie.begin)
        return ids[starts[-1] :] if len(starts) else ids

    def __repr__(self) -> str:
        sizes = " + ".join(f"{size:,}" for size in self.trie.sizes)
        return f"NgramModel({sizes} n-grams)"
