"""NgramModel: how probable a word is after the words before it, and what follows from that.

A back-off model, as ARPA files hold it. A word seen after a context has a probability
there; any other word has the back-off weight of the context times its probability after
the context without its first word. Knows nothing of counts, smoothing or files.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.errors import BadSetting
from malmoi.kernels.ngrams import Ids, words_before
from malmoi.models.sentences import BEGIN
from malmoi.models.trie import Trie

Numbers = npt.NDArray[np.float64]


class NextWord(NamedTuple):
    """A word and how probable it is."""

    word: str
    probability: float


@dataclass(frozen=True)
class TextScore:
    """How well a model foretells a text."""

    log_probability: float  # natural logarithm
    tokens: int  # the end of each sentence is one
    unknown: int  # tokens that the model knows as <unk> only

    @property
    def perplexity(self) -> float:
        """Among how many equally probable words the model hesitates, on average."""
        mean = self.log_probability / self.tokens
        return math.exp(-mean) if mean > -700 else math.inf


@dataclass(frozen=True, eq=False, repr=False)
class NgramModel:
    """`probabilities[m - 1]` and `backoffs[m - 1]` have an entry for each n-gram of order m.

    The highest order has no back-off weights. `unseen`, where given, stands in for the
    probability after the shorter context: models that do not back off have it (0 without
    smoothing, 1 / words for add-k).
    """

    trie: Trie
    probabilities: tuple[Numbers, ...]
    backoffs: tuple[Numbers, ...]
    unseen: float | None = None

    def __post_init__(self) -> None:
        sizes = self.trie.sizes
        if [*map(len, self.probabilities)] != sizes or [*map(len, self.backoffs)] != sizes[:-1]:
            raise BadSetting(f"each of {sizes} n-grams has a probability and a back-off weight")

    @property
    def order(self) -> int:
        """How many words the longest n-grams have."""
        return self.trie.order

    def probability(self, word: str, context: Sequence[str] = ()) -> float:
        """P(word | context). A sentence begins with `<s>` and ends with `</s>`."""
        ids = np.append(self._context(context), self.trie.ids([word]))
        return float(self.along(ids)[-1])

    def distribution(self, context: Sequence[str] = ()) -> Numbers:
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

    def next_words(self, context: Sequence[str] = (), k: int | None = None) -> list[NextWord]:
        """The k most probable words after a context (all of them if no k is given)."""
        if k is not None and k < 1:
            raise BadSetting(f"k is {k}: ask for at least one word")
        found = self.distribution(context)
        best = np.argsort(-found, kind="stable")
        best = best[best != self.trie.begin][:k]
        words = [self.trie.words[row] for row in best.tolist()]
        return [NextWord(*pair) for pair in zip(words, found[best].tolist(), strict=True)]

    def sentence_log_probability(self, words: Sequence[str]) -> float:
        """The natural logarithm of P(words and `</s>` | `<s>`)."""
        return self.score([words]).log_probability

    def perplexity(self, sentences: Iterable[Sequence[str]]) -> float:
        """The perplexity of a text, the ends of sentences and unknown words included."""
        return self.score(sentences).perplexity

    def score(self, sentences: Iterable[Sequence[str]]) -> TextScore:
        """How probable a text is, with what that was counted over."""
        return self.score_ids(self.trie.encode(sentences))

    def score_ids(self, ids: Ids) -> TextScore:
        """`score` of a stream of ids as `Trie.encode` makes it."""
        tokens = self.trie.marked(ids)
        foretold = tokens != self.trie.begin
        if not foretold.any():
            raise BadSetting("there is no text to judge: give at least one sentence")
        with np.errstate(divide="ignore"):
            logarithms = np.log(self.along(tokens)[foretold])
        unknown = int(np.count_nonzero(tokens == self.trie.unknown))
        return TextScore(float(logarithms.sum()), len(logarithms), unknown)

    def sample(
        self, seed: int | None = None, *, start: Sequence[str] = (), max_words: int = 100
    ) -> list[str]:
        """A sentence drawn word by word, at most so long; the same for the same seed.

        `start` are its first words. `<unk>` is drawn only where nothing else can follow.
        """
        random = np.random.default_rng(seed)
        words = list(start)
        while len(words) < max_words:
            chances = self.distribution([BEGIN, *words])
            known = chances.copy()
            known[self.trie.unknown] = 0
            total = np.cumsum(known if known.any() else chances)
            if total[-1] == 0:
                raise BadSetting(
                    f"nothing was ever seen after '{' '.join(words[-self.order + 1 :])}':"
                    " start with other words or train with smoothing"
                )
            drawn = int(np.searchsorted(total, random.random() * total[-1], side="right"))
            if drawn == self.trie.end:
                break
            words.append(self.trie.words[drawn])
        return words

    def along(self, tokens: Ids) -> Numbers:
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

    def _context(self, words: Sequence[str]) -> Ids:
        """As much of a context as counts: the last words, none from before `<s>`."""
        ids = self.trie.ids(words)
        ids = ids[max(0, len(ids) - self.order + 1) :]
        starts = np.flatnonzero(ids == self.trie.begin)
        return ids[starts[-1] :] if len(starts) else ids

    def __repr__(self) -> str:
        sizes = " + ".join(f"{size:,}" for size in self.trie.sizes)
        return f"NgramModel({sizes} n-grams)"
