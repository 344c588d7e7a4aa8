"""LanguageModel: what follows from how probable each word is after the words before it.

The most probable words, the probability of a text, sentences drawn word by word: the same for
every kind of model. Knows nothing of where the probabilities come from.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from malmoi.arrays import Float64Array, UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.models.sentences import BEGIN
from malmoi.models.trie import Trie


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


class LanguageModel(ABC):
    """A model of the words of a trie: say what may follow a context, and the rest follows."""

    trie: Trie

    @abstractmethod
    def probability(self, word: str, context: Sequence[str] = ()) -> float:
        """P(word | context). A sentence begins with `<s>` and ends with `</s>`."""

    @abstractmethod
    def distribution(self, context: Sequence[str] = ()) -> Float64Array:
        """P(word | context) of every word, by the trie's rows; 0 for `<s>`."""

    @abstractmethod
    def log_probabilities(self, ids: UInt32Array) -> Float64Array:
        """log P(token | the tokens before it in its line) of each word and line's end."""

    def next_words(self, context: Sequence[str] = (), k: int | None = None) -> list[NextWord]:
        """The k most probable words after a context (all of them if no k is given)."""
        if k is not None and k < 1:
            raise InvalidArgumentError(f"k is {k}: ask for at least one word")
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

    def score_ids(self, ids: UInt32Array) -> TextScore:
        """`score` of a stream of ids as `Trie.encode` makes it."""
        logarithms = self.log_probabilities(ids)
        if not len(logarithms):
            raise InvalidArgumentError("there is no text to judge: give at least one sentence")
        unknown = int(np.count_nonzero(self.trie.marked(ids) == self.trie.unknown))
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
            if not math.isfinite(total[-1]):
                raise InvalidArgumentError(
                    f"the probabilities after '{' '.join(words[-3:])}' are not finite: the model's"
                    " numbers are too large, train it again"
                )
            if total[-1] == 0:
                raise InvalidArgumentError(
                    f"nothing was ever seen after '{' '.join(words[-3:])}':"
                    " start with other words or train with smoothing"
                )
            drawn = int(np.searchsorted(total, random.random() * total[-1], side="right"))
            if drawn == self.trie.end:
                break
            words.append(self.trie.words[drawn])
        return words
