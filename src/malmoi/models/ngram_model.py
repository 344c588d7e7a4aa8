"""NgramModel: how probable a word is after the words before it, by the n-grams that were seen.

A back-off model, as ARPA files hold it. A word seen after a context has a probability
there; any other word has the back-off weight of the context times its probability after
the context without its first word. Knows nothing of counts, smoothing or files.
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
    """`probabilities[m - 1]` and `backoffs[m - 1]` have an entry for each n-gram of order m.

    The highest order has no back-off weights. `unseen`, where given, stands in for the
    probability after the shorter context: models that do not back off have it (0 without
    smoothing, 1 / words for add-k).
    """

    trie: Trie
    probabilities: tuple[Float64Array, ...]
    backoffs: tuple[Float64Array, ...]
    unseen: float | None = None

    def __post_init__(self) -> None:
        sizes = self.trie.sizes
        if [*map(len, self.probabilities)] != sizes or [*map(len, self.backoffs)] != sizes[:-1]:
            raise InvalidArgumentError(
                f"each of {sizes} n-grams has a probability and a back-off weight"
            )

    @property
    def order(self) -> int:
        """How many words the longest n-grams have."""
        return self.trie.order

    def probability(self, word: str, context: Sequence[str] = ()) -> float:
        """P(word | context). A sentence begins with `<s>` and ends with `</s>`."""
        ids = np.append(self._context(context), self.trie.ids([word]))
        return float(self.along(ids)[-1])

    def distribution(self, context: Sequence[str] = ()) -> Float64Array:
        """P(word | context) of every word, by the trie's rows.

        They sum to 1, or to 0 where a model without smoothing never saw the context.
        """
        ids = self._context(context)
        found = self.probabilities[0].copy()
        for length in range(1, len(ids) + 1):
            if self.unseen is not None:
                found[:] = self.unseen
                found[self.trie.begin] = 0
            row = self.trie.row(ids[len(ids) - length :])
            if row >= 0:
                rows, words = self.trie.following(length, row)
                found *= self.backoffs[length - 1][row]
                found[words] = self.probabilities[length][rows]
        return found

    def log_probabilities(self, ids: UInt32Array) -> Float64Array:
        """log P(token | the tokens before it in its line) of each word and line's end."""
        tokens = self.trie.marked(ids)
        with np.errstate(divide="ignore"):
            found: Float64Array = np.log(self.along(tokens)[tokens != self.trie.begin])
        return found

    def along(self, tokens: UInt32Array) -> Float64Array:
        """P(token | the tokens before it in its line) of each token of a marked stream."""
        before = words_before(tokens, self.trie.begin)
        rows = tokens.astype(np.int64)  # of the n-gram that ends at each token, or -1
        found = self.probabilities[0][rows]
        for order in range(2, self.order + 1):
            inside = before >= order - 1
            contexts = np.where(inside, np.r_[-1, rows[:-1]], -1)
            rows = self.trie.find(order, contexts, tokens)
            if self.unseen is not None:
                found[inside] = self.unseen
            known, held = contexts >= 0, rows >= 0
            found[known] *= self.backoffs[order - 2][contexts[known]]
            found[held] = self.probabilities[order - 1][rows[held]]
        found[tokens == self.trie.begin] = 0
        return found

    def _context(self, words: Sequence[str]) -> UInt32Array:
        """As much of a context as counts: the last words, none from before `<s>`."""
        ids = self.trie.ids(words)
        ids = ids[max(0, len(ids) - self.order + 1) :]
        starts = np.flatnonzero(ids == self.trie.begin)
        return ids[starts[-1] :] if len(starts) else ids

    def __repr__(self) -> str:
        sizes = " + ".join(f"{size:,}" for size in self.trie.sizes)
        return f"NgramModel({sizes} n-grams)"
