"""Ngrams: the hashed n-grams of texts, which are the features of linear classifiers.

A text is in NFC, in lower case, with one blank for any space and between blanks; runs of a
character are cut to three. Its n-grams of characters (across blanks), of words and of jamo are
hashed into 2^bits buckets. `kernels/classify/collect_ngrams.py` does the same for many texts; the
code here needs NumPy alone, and also knows which characters an n-gram has.
"""

import itertools
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from malmoi.arguments import check_numbers
from malmoi.arrays import Int32Array, Int64Array, UInt32Array, UInt64Array
from malmoi.errors import InvalidArgumentError
from malmoi.hangul import FINALS, INITIALS, VOWELS
from malmoi.kernels.classify.sets import Sets
from malmoi.unicode import normalize

BLANK = 32
CHARACTER_SALT, WORD_SALT, JAMO_SALT = 0x1F3D5B79, 0x2E4C6A88, 0x3A5C7E91
MULTIPLIER, SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)
PLANE = 1 << 16  # code points that are folded
MIN_JAMO = 3  # of n-grams of jamo: shorter ones are less than a syllable
MAX_ORDER, MIN_BITS, MAX_BITS = 16, 8, 30
FIRST_SYLLABLE, LAST_SYLLABLE = 0xAC00, 0xD7A3
COMPILED_CHARACTERS = 20_000  # for fewer, importing the compiler takes longer than it saves


@dataclass(frozen=True, kw_only=True)
class Ngrams:
    """Which n-grams a text has.

    Characters from `min_n` to `max_n` (0: none), words up to `words` and jamo from three up to
    `jamo`; hashed into 2^`bits` buckets.
    """

    min_n: int = 1
    max_n: int = 4
    words: int = 0
    jamo: int = 0
    bits: int = 24
    max_run: int = 3

    def __post_init__(self) -> None:
        check_numbers(self)
        if not 1 <= self.min_n <= max(self.max_n, 1) or not 0 <= self.max_n <= MAX_ORDER:
            raise InvalidArgumentError(
                f"n-grams of {self.min_n} to {self.max_n} characters: choose from 1 to {MAX_ORDER}"
            )
        if not 0 <= self.words <= MAX_ORDER:
            raise InvalidArgumentError(f"words is {self.words}: choose from 0 to {MAX_ORDER}")
        if self.jamo and not MIN_JAMO <= self.jamo <= MAX_ORDER:
            raise InvalidArgumentError(
                f"jamo is {self.jamo}: choose 0, or from {MIN_JAMO} to {MAX_ORDER}"
            )
        if not (self.max_n or self.words or self.jamo):
            raise InvalidArgumentError("max_n, words and jamo are 0: choose n-grams of something")
        if not MIN_BITS <= self.bits <= MAX_BITS:
            raise InvalidArgumentError(f"bits is {self.bits}: choose from {MIN_BITS} to {MAX_BITS}")
        if self.max_run < 1:
            raise InvalidArgumentError(f"max_run is {self.max_run}: it must be at least 1")

    def sets(self, texts: Sequence[str]) -> Sets:
        """The buckets of each text, once each, in the order of their first n-gram."""
        texts = normalized(texts)
        if sum(map(len, texts)) < COMPILED_CHARACTERS:
            return self.plain_sets(texts)
        from malmoi.kernels.classify.collect_ngrams import collect_ngrams

        codes, offsets = packed(texts)
        return Sets(*collect_ngrams(codes, offsets, folds(), jamo_letters(), self.plan))

    def plain_sets(self, texts: Sequence[str]) -> Sets:
        """`sets` of normalized texts without compiled code."""
        rows = [self._set(text) for text in texts]
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return Sets(offsets, np.concatenate([np.empty(0, np.int32), *rows]))

    def spans(self, text: str) -> list[tuple[int, int, int]]:
        """(bucket, start, stop) of every n-gram of a normalized text, repeats included.

        An n-gram with the blank before or after the text starts at -1 or stops beyond the text.
        """
        return [
            (int(bucket), int(start), int(stop))
            for buckets, starts, stops in self._parts(text)
            for bucket, start, stop in zip(buckets, starts, stops, strict=True)
        ]

    @cached_property
    def plan(self) -> Int64Array:
        """The settings as the kernel takes them."""
        own = (self.min_n, self.max_n, self.words, MIN_JAMO, self.jamo, self.bits, self.max_run)
        return np.array(own, np.int64)

    def _set(self, text: str) -> Int32Array:
        parts = [buckets for buckets, _, _ in self._parts(text)]
        every = np.concatenate([np.empty(0, np.int32), *parts])
        _, first = np.unique(every, return_index=True)
        buckets: Int32Array = every[np.sort(first)]
        return buckets

    def _parts(self, text: str) -> Iterator[tuple[Int32Array, Int64Array, Int64Array]]:
        """Buckets, starts and stops of the n-grams of one kind and, for characters, length."""
        codes, positions = folded(text, self.max_run)
        if self.max_n:
            yield self._in_order(codes, positions, self.min_n, self.max_n, CHARACTER_SALT)
        if self.words:
            yield self._word_ngrams(codes, positions)
        if self.jamo:
            letters, sources = split_syllables(codes, positions)
            yield self._in_order(letters, sources, MIN_JAMO, self.jamo, JAMO_SALT)

    def _in_order(
        self, codes: UInt32Array, positions: Int64Array, shortest: int, longest: int, salt: int
    ) -> tuple[Int32Array, Int64Array, Int64Array]:
        """N-grams of characters by their first character, then by their length."""
        states, firsts, sizes = [], [], []
        state = np.full(len(codes), salt, np.uint64)
        for n in range(1, min(longest, len(codes)) + 1):
            count = len(codes) - n + 1
            state = mixed(state[:count], codes[n - 1 :])
            used = np.flatnonzero(codes != BLANK) if n == 1 else np.arange(count)
            if n >= shortest:
                states.append(state[used])
                firsts.append(used)
                sizes.append(np.full(len(used), n))
        if not states:
            return np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.int64)
        first, size = np.concatenate(firsts), np.concatenate(sizes)
        order = np.lexsort((size, first))
        first, size = first[order], size[order]
        buckets = self._buckets(np.concatenate(states)[order])
        return buckets, positions[first], positions[first + size - 1] + 1

    def _word_ngrams(
        self, codes: UInt32Array, positions: Int64Array
    ) -> tuple[Int32Array, Int64Array, Int64Array]:
        blanks = np.flatnonzero(codes == BLANK)
        bounds = [(a + 1, b) for a, b in itertools.pairwise(blanks) if b > a + 1]
        hashes = []
        for start, stop in bounds:
            state = np.full(1, WORD_SALT, np.uint64)
            for code in codes[start:stop]:
                state = mixed(state, np.array([code], np.uint32))
            hashes.append(state[0])
        states, spans = [], []
        for i in range(len(bounds)):
            state = np.full(1, WORD_SALT, np.uint64)
            for j in range(i, min(i + self.words, len(bounds))):
                state = mixed(state, np.array([hashes[j]], np.uint64))
                states.append(state[0])
                spans.append((positions[bounds[i][0]], positions[bounds[j][1] - 1] + 1))
        starts, stops = np.array(spans, np.int64).reshape(-1, 2).T
        return self._buckets(np.array(states, np.uint64)), starts, stops

    def _buckets(self, states: UInt64Array) -> Int32Array:
        return (states >> np.uint64(64 - self.bits)).astype(np.int32)


def normalized(texts: Sequence[str]) -> Sequence[str]:
    """The texts in NFC."""
    whole = "\n".join(texts)
    if whole.isascii() or unicodedata.is_normalized("NFC", whole):
        return texts
    return [normalize("NFC", text) for text in texts]


def packed(texts: Sequence[str]) -> tuple[UInt32Array, Int64Array]:
    """The code points of texts one after the other, and where each begins."""
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
    data = "".join(texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(data, np.uint32), offsets


def folded(text: str, max_run: int) -> tuple[UInt32Array, Int64Array]:
    """The folded code points of a text, and the position in the text of each."""
    codes, _ = packed([text])
    codes = np.where(codes < PLANE, folds()[np.minimum(codes, PLANE - 1)], codes)
    codes = np.concatenate([[BLANK], codes, [BLANK]]).astype(np.uint32)
    positions = np.arange(-1, len(text) + 1)
    changes = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
    lengths = np.diff(np.r_[changes, len(codes)])
    within_run = np.arange(len(codes)) - np.repeat(changes, lengths)
    kept = within_run < np.where(codes == BLANK, 1, max_run)
    return codes[kept], positions[kept]


def split_syllables(codes: UInt32Array, positions: Int64Array) -> tuple[UInt32Array, Int64Array]:
    """Hangul syllables as two or three jamo, all else unchanged, with the positions."""
    is_syllable = (codes >= FIRST_SYLLABLE) & (codes <= LAST_SYLLABLE)
    number = np.where(is_syllable, codes, FIRST_SYLLABLE).astype(np.int64) - FIRST_SYLLABLE
    letters = jamo_letters()
    first = np.where(is_syllable, letters[number // 588], codes)
    second, third = letters[19 + number % 588 // 28], letters[19 + 21 + number % 28]
    kept = np.stack([np.ones_like(is_syllable), is_syllable, is_syllable & (number % 28 > 0)])
    every = np.stack([first, second, third])
    return every.T[kept.T].astype(np.uint32), np.repeat(positions, kept.sum(axis=0))


def mixed(state: UInt64Array, codes: UInt32Array | UInt64Array) -> UInt64Array:
    """The hashes of n-grams and one more character each."""
    product = (state ^ codes.astype(np.uint64)) * MULTIPLIER
    return product ^ (product >> SHIFT)


@cache
def folds() -> UInt32Array:
    """The lower case of each character; a blank for every space."""
    letters = (chr(code) for code in range(PLANE))
    lower = (BLANK if one.isspace() else ord(low) if len(low := one.lower()) == 1 else ord(one)
             for one in letters)  # fmt: skip
    return np.fromiter(lower, np.uint32, PLANE)


@cache
def jamo_letters() -> UInt32Array:
    """The initials, vowels and finals of Hangul, one after the other."""
    return np.array([ord(letter) for letter in INITIALS + VOWELS + FINALS], np.uint32)
