"""LanguageModel: the base class of n-gram and neural language models.

Subclasses compute the probability of a word after a context. The base class derives the most
probable next words, the score and perplexity of a text, and sampling from it.
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
    """A word and its probability."""

    word: str
    probability: float


@dataclass(frozen=True)
class TextScore:
    """How well a model predicts a text."""

    log_probability: float  # natural logarithm
    tokens: int  # words, and one for the end of each sentence
    unknown: int  # tokens outside the vocabulary, scored as <unk>

    @property
    def perplexity(self) -> float:
        """exp(-mean log probability): the model is as uncertain as a choice among so many words."""
        mean = self.log_probability / self.tokens
        return math.exp(-mean) if mean > -700 else math.inf


class LanguageModel(ABC):
    """A model of the words of a trie; subclasses implement the abstract methods."""

    trie: Trie

    @abstractmethod
    def probability(self, word: str, context: Sequence[str] = ()) -> float:
        """Return P(word | context).

        Args:
            word: the word to predict; unknown words count as `<unk>`.
            context: the words before it; `<s>` marks the start of a sentence.
        """

    @abstractmethod
    def distribution(self, context: Sequence[str] = ()) -> Float64Array:
        """Return P(word | context) of every word.

        Args:
            context: the words before it; `<s>` marks the start of a sentence.

        Returns:
            One probability per row of the trie; 0 for `<s>`.
        """

    @abstractmethod
    def log_probabilities(self, ids: UInt32Array) -> Float64Array:
        """Return the natural log probability of each word and sentence end of a text.

        Args:
            ids: a stream of ids from `Trie.encode`.
        """

    def next_words(self, context: Sequence[str] = (), k: int | None = None) -> list[NextWord]:
        """Return the most probable words after a context.

        Args:
            context: the words before; `<s>` marks the start of a sentence.
            k: how many words, all by default.

        Returns:
            Words with their probabilities, most probable first.

        Raises:
            InvalidArgumentError: k is less than 1.
        """
        if k is not None and k < 1:
            raise InvalidArgumentError(f"k is {k}: it must be at least 1")
        probabilities = self.distribution(context)
        best = np.argsort(-probabilities, kind="stable")
        best = best[best != self.trie.begin][:k]
        words = [self.trie.words[row] for row in best.tolist()]
        best_probabilities = probabilities[best].tolist()
        return [NextWord(*pair) for pair in zip(words, best_probabilities, strict=True)]

    def sentence_log_probability(self, words: Sequence[str]) -> float:
        """Return log P(words and `</s>` | `<s>`), a natural logarithm.

        Args:
            words: one sentence, without `<s>` and `</s>`.
        """
        return self.score([words]).log_probability

    def perplexity(self, sentences: Iterable[Sequence[str]]) -> float:
        """Return the perplexity of a text, counting sentence ends and unknown words.

        Args:
            sentences: lists of words, without `<s>` and `</s>`.

        Raises:
            InvalidArgumentError: there is no sentence.
        """
        return self.score(sentences).perplexity

    def score(self, sentences: Iterable[Sequence[str]]) -> TextScore:
        """Return the log probability of a text with its number of tokens.

        Args:
            sentences: lists of words, without `<s>` and `</s>`.

        Raises:
            InvalidArgumentError: there is no sentence.
        """
        return self.score_ids(self.trie.encode(sentences))

    def score_ids(self, ids: UInt32Array) -> TextScore:
        """Like `score`, for a stream of ids from `Trie.encode`."""
        logarithms = self.log_probabilities(ids)
        if not len(logarithms):
            raise InvalidArgumentError("nothing to score: give at least one sentence")
        unknown = int(np.count_nonzero(self.trie.marked(ids) == self.trie.unknown))
        return TextScore(float(logarithms.sum()), len(logarithms), unknown)

    def sample(
        self, seed: int | None = None, *, start: Sequence[str] = (), max_words: int = 100
    ) -> list[str]:
        """Sample a sentence word by word.

        Args:
            seed: the same seed gives the same sentence.
            start: the first words of the sentence.
            max_words: the length limit, `start` included.

        Returns:
            The words. `<unk>` is sampled only if no other word can follow.

        Raises:
            InvalidArgumentError: no word can follow, or the model's weights are not finite.
        """
        random = np.random.default_rng(seed)
        words = list(start)
        while len(words) < max_words:
            probabilities = self.distribution([BEGIN, *words])
            known = probabilities.copy()
            known[self.trie.unknown] = 0
            cumulative = np.cumsum(known if known.any() else probabilities)
            if not math.isfinite(cumulative[-1]):
                raise InvalidArgumentError(
                    f"the probabilities after '{' '.join(words[-3:])}' are not finite: the model's"
                    " weights are too large, train it again"
                )
            if cumulative[-1] == 0:
                raise InvalidArgumentError(
                    f"no word was seen after '{' '.join(words[-3:])}':"
                    " start with other words or train with smoothing"
                )
            row = int(np.searchsorted(cumulative, random.random() * cumulative[-1], side="right"))
            if row == self.trie.end:
                break
            words.append(self.trie.words[row])
        return words
