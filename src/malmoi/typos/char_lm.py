"""Character language model: the probability of a new word by its spelling.

Two n-gram models, of keystrokes and (for Hangul) of syllables, and the endings of words. The models
are smoothed by Witten and Bell (1991): the more distinct symbols have followed a context, the more
weight goes to the context that is one symbol shorter.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Int64Array
from malmoi.typos.edits import keystrokes

ORDER = 5  # of the keystroke model
SYLLABLE_ORDER = 2  # of the syllable model
SYMBOL_BITS = 12  # per symbol of a packed n-gram
MAX_SYMBOLS = 1 << SYMBOL_BITS  # the rarest symbols beyond count as one
SAMPLE_WORDS = 50_000  # more take longer and give the same model
EDGE = "\n"  # marks the start and the end of a word
MAX_ENDING_CHARS = 4
MIN_ENDING_WORDS = 20  # words of the sample with the ending and a known stem


class ContextCounts(NamedTuple):
    """The contexts of one length: how often each symbol followed, and how many distinct ones."""

    grams: Int64Array  # ascending; a context and the next symbol, packed
    counts: Int64Array
    contexts: Int64Array  # ascending
    totals: Int64Array
    kinds: Int64Array


class CharNgramModel(NamedTuple):
    """An n-gram model of keystrokes or of characters."""

    letters: Int64Array  # ascending code points of known symbols
    orders: tuple[ContextCounts, ...]  # contexts of 0 symbols, 1, …
    by_keystrokes: bool = True  # or by characters

    def probability(self, word: str) -> float:
        """The probability of a word among all strings."""
        points, is_predicted = code_points([word], len(self.orders), self.by_keystrokes)
        codes = symbol_codes(points, self.letters)
        probabilities = np.full(int(is_predicted.sum()), 1 / (len(self.letters) + 1))
        for length, order in enumerate(self.orders):
            grams = pack_ngrams(codes, length)[is_predicted]
            contexts = grams >> SYMBOL_BITS
            counts = look_up(grams, order.grams, order.counts)
            totals = look_up(contexts, order.contexts, order.totals)
            kinds = look_up(contexts, order.contexts, order.kinds)
            known = totals > 0
            mixed = counts + kinds * probabilities
            probabilities[known] = mixed[known] / (totals + kinds)[known]
        return float(np.prod(probabilities))


class SpellingModel(NamedTuple):
    """Models of the spelling of words, and their endings."""

    by_keystrokes: CharNgramModel
    by_syllables: CharNgramModel
    endings: dict[str, float]  # -ed, 에서; the share of its words that have a known stem

    def probability(self, word: str) -> float:
        """The probability of a word; with Hangul, the geometric mean of both models."""
        probability = self.by_keystrokes.probability(word)
        if keystrokes(word) == word:
            return probability
        return math.sqrt(probability * self.by_syllables.probability(word))

    def stems(self, word: str) -> Iterator[tuple[str, float]]:
        """The stems of a word by its known endings, with the share of each ending."""
        for length in range(1, min(MAX_ENDING_CHARS, len(word) - 1) + 1):
            if word[-length:] in self.endings:
                yield word[:-length], self.endings[word[-length:]]


def learn_spelling(words: Sequence[str]) -> SpellingModel:
    """Learn the spelling of a language from its words, or from an even sample of many."""
    every = -(-max(1, len(words)) // SAMPLE_WORDS)
    sample = [words[i] for i in range(0, len(words), every)]
    return SpellingModel(
        learn_ngrams(sample, ORDER),
        learn_ngrams(sample, SYLLABLE_ORDER, by_keystrokes=False),
        # Of the most frequent words, the stems are among them.
        learn_endings(list(words[:SAMPLE_WORDS])),
    )


def learn_ngrams(words: Sequence[str], order: int, *, by_keystrokes: bool = True) -> CharNgramModel:
    """Train an n-gram model of an order on words."""
    points, is_predicted = code_points(words, order, by_keystrokes)
    letters, counts = np.unique(points, return_counts=True)
    letters = np.sort(letters[np.argsort(-counts, kind="stable")[: MAX_SYMBOLS - 1]])
    codes = symbol_codes(points, letters)
    grams = (pack_ngrams(codes, length)[is_predicted] for length in range(order))
    return CharNgramModel(letters, tuple(map(count_contexts, grams)), by_keystrokes)


def learn_endings(words: Sequence[str]) -> dict[str, float]:
    """The frequent endings of words, each with the share of its words that have a known stem."""
    known = set(words)
    having, made = Counter[str](), Counter[str]()
    for length in range(1, MAX_ENDING_CHARS + 1):
        longer = [word for word in words if len(word) > length]
        having.update(word[-length:] for word in longer)
        made.update(word[-length:] for word in longer if word[:-length] in known)
    return {ending: n / having[ending] for ending, n in made.items() if n >= MIN_ENDING_WORDS}


def code_points(
    words: Sequence[str], order: int, by_keystrokes: bool
) -> tuple[Int64Array, npt.NDArray[np.bool_]]:
    """The code points of all symbols, with edges between words, and which of them are predicted."""
    between = EDGE * max(1, order - 1)
    text = between + between.join(words) + between
    text = keystrokes(text) if by_keystrokes else text
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.int64)
    is_edge = points == ord(EDGE)
    is_predicted = ~is_edge
    is_predicted[1:] |= is_edge[1:] & ~is_edge[:-1]  # the end of a word, not the padding
    return points, is_predicted


def symbol_codes(points: Int64Array, letters: Int64Array) -> Int64Array:
    """Symbols as integers from 1; 0 is unknown."""
    return look_up(points, letters, np.arange(1, len(letters) + 1))


def pack_ngrams(codes: Int64Array, length: int) -> Int64Array:
    """Each symbol and the `length` symbols before it, packed into one integer."""
    grams = codes.copy()
    for back in range(1, length + 1):
        grams[back:] |= codes[:-back] << (SYMBOL_BITS * back)
    return grams


def count_contexts(grams: Int64Array) -> ContextCounts:
    """Count the symbols that follow each context."""
    seen, counts = np.unique(grams, return_counts=True)
    contexts, starts, kinds = np.unique(seen >> SYMBOL_BITS, return_index=True, return_counts=True)
    totals = np.add.reduceat(counts, starts) if len(starts) else counts
    return ContextCounts(seen, counts, contexts, totals, kinds)


def look_up(queries: Int64Array, keys: Int64Array, values: Int64Array) -> Int64Array:
    """The values of queries by ascending keys; 0 for a missing key."""
    if not len(keys):
        return np.zeros_like(queries)
    positions = np.minimum(np.searchsorted(keys, queries), len(keys) - 1)
    return np.where(keys[positions] == queries, values[positions], 0)
