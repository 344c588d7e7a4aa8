"""Hashes the n-grams of texts into buckets: one set per text, in the order of first occurrence.

A text is an array of code points. They are folded by a table (lower case, one blank for every kind
of space), runs of blanks become one, runs of any other character are cut, and one blank stands
before and after the text. N-grams of characters go across blanks. `classify/ngrams.py` describes
the plan and has a twin of this kernel in NumPy.
"""

from typing import Any

import numpy as np

from malmoi.arrays import Int32Array, Int64Array, UInt32Array, UInt64Array
from malmoi.kernels.core.jit import in_parallel, jit, readonly_view

MIN_N, MAX_N, WORDS, MIN_JAMO, MAX_JAMO, BITS, MAX_RUN = range(7)  # of a plan
PLAN_SIZE = 7
BLANK = 32
CHARACTER_SALT, WORD_SALT, JAMO_SALT = 0x1F3D5B79, 0x2E4C6A88, 0x3A5C7E91
MULTIPLIER, SHIFT = 0x9E3779B97F4A7C15, 29
FIRST_SYLLABLE, LAST_SYLLABLE, VOWELS_AND_FINALS, FINALS = 0xAC00, 0xD7A3, 588, 28


def collect_ngrams(
    codes: UInt32Array, offsets: Int64Array, folds: UInt32Array, jamo: UInt32Array, plan: Int64Array
) -> tuple[Int64Array, Int32Array]:
    """The buckets of each text: offsets [texts + 1], and buckets [entries]."""
    lengths = np.diff(offsets)
    if len(offsets) < 1 or offsets[0] != 0 or offsets[-1] != len(codes) or (lengths < 0).any():
        raise ValueError("offsets do not rise from 0 to the number of codes")
    if len(plan) != PLAN_SIZE or len(folds) != 1 << 16 or len(jamo) != 19 + 21 + 28:
        raise ValueError("the plan or a table has another size")
    starts = np.zeros(len(offsets), np.int64)
    np.cumsum(capacities(lengths, plan), out=starts[1:])
    counts, buckets = np.zeros(len(lengths), np.int64), np.empty(starts[-1], np.int32)
    tables = readonly_view(folds), readonly_view(jamo), readonly_view(plan)
    texts = readonly_view(codes), readonly_view(offsets)
    parts: list[Int32Array] = []

    def collect(first: int, last: int) -> None:
        collect_texts(*texts, *tables, starts, buckets, counts, first, last)

    def part(first: int, last: int) -> tuple[int, int]:
        collect(first, last)
        return first, last

    spans: list[tuple[int, int]] = []
    in_parallel(lambda first, last: spans.append(part(first, last)), len(lengths))
    for first, last in sorted(spans):
        size = int(counts[first:last].sum())
        parts.append(buckets[starts[first] : starts[first] + size])
    ends = np.zeros(len(offsets), np.int64)
    np.cumsum(counts, out=ends[1:])
    return ends, parts[0] if len(parts) == 1 else np.concatenate(parts)


def capacities(lengths: Int64Array, plan: Int64Array) -> Int64Array:
    """How many n-grams texts of so many characters can have at most."""
    per_character = plan[WORDS]
    for shortest, longest, size in ((MIN_N, MAX_N, 1), (MIN_JAMO, MAX_JAMO, 3)):
        if plan[longest] > 0:
            per_character += size * (plan[longest] - plan[shortest] + 1)
    most: Int64Array = np.minimum((lengths + 2) * per_character, 1 << plan[BITS])
    return most


@jit
def collect_texts(
    codes: UInt32Array,
    offsets: Int64Array,
    folds: UInt32Array,
    jamo: UInt32Array,
    plan: Int64Array,
    starts: Int64Array,
    buckets: Int32Array,
    counts: Int64Array,
    first: int,
    last: int,
) -> None:
    """Collect the texts from `first` to `last`, without gaps from starts[first] on."""
    longest, most = 0, 1
    for text in range(first, last):
        longest = max(longest, offsets[text + 1] - offsets[text])
        most = max(most, starts[text + 1] - starts[text])
    folded = np.empty(longest + 2, np.uint32)
    letters = np.empty(3 * (longest + 2) if plan[MAX_JAMO] > 0 else 1, np.uint32)
    words = np.empty(longest + 2 if plan[WORDS] > 0 else 1, np.uint64)
    table = np.empty(table_size(most), np.int32)
    end = starts[first] if last > first else 0
    for text in range(first, last):
        begin = end
        size = fold_text(codes, offsets[text], offsets[text + 1], folds, plan[MAX_RUN], folded)
        slots = table[: table_size(starts[text + 1] - starts[text])]
        slots[:] = -1
        if plan[MAX_N] > 0:
            shortest, longest_n = plan[MIN_N], plan[MAX_N]
            end = add_ngrams(
                folded, size, shortest, longest_n, CHARACTER_SALT, plan[BITS], slots, buckets, end
            )
        if plan[WORDS] > 0:
            count = hash_words(folded, size, words)
            end = add_word_ngrams(words, count, plan[WORDS], plan[BITS], slots, buckets, end)
        if plan[MAX_JAMO] > 0:
            count = split_syllables(folded, size, jamo, letters)
            shortest, longest_n = plan[MIN_JAMO], plan[MAX_JAMO]
            end = add_ngrams(
                letters, count, shortest, longest_n, JAMO_SALT, plan[BITS], slots, buckets, end
            )
        counts[text] = end - begin


@jit
def table_size(entries: int) -> int:
    """A power of two that is at least twice the number of entries."""
    size = 16
    while size < 2 * entries:
        size *= 2
    return size


@jit
def fold_text(
    codes: UInt32Array, start: int, stop: int, folds: UInt32Array, max_run: int, folded: UInt32Array
) -> int:
    """Fold a text between two blanks; returns the new length."""
    folded[0] = BLANK
    size, run = 1, 1
    for i in range(start, stop):
        code = codes[i]
        if code < 0x10000:
            code = folds[code]
        if code == folded[size - 1]:
            run += 1
            if code == BLANK or run > max_run:
                continue
        else:
            run = 1
        folded[size] = code
        size += 1
    if folded[size - 1] != BLANK:
        folded[size] = BLANK
        size += 1
    return size


@jit
def split_syllables(folded: UInt32Array, size: int, jamo: UInt32Array, letters: UInt32Array) -> int:
    """Hangul syllables as two or three jamo; returns the new length."""
    end = 0
    for i in range(size):
        code = folded[i]
        if code < FIRST_SYLLABLE or code > LAST_SYLLABLE:
            letters[end] = code
            end += 1
            continue
        number = np.int64(code) - FIRST_SYLLABLE
        letters[end] = jamo[number // VOWELS_AND_FINALS]
        letters[end + 1] = jamo[19 + number % VOWELS_AND_FINALS // FINALS]
        end += 2
        if number % FINALS:
            letters[end] = jamo[19 + 21 + number % FINALS]
            end += 1
    return end


@jit
def mix(state: Any, code: Any) -> Any:
    """The hash of an n-gram and one more character."""
    state = (state ^ np.uint64(code)) * np.uint64(MULTIPLIER)
    return state ^ (state >> np.uint64(SHIFT))


@jit
def add_ngrams(
    codes: UInt32Array,
    size: int,
    shortest: int,
    longest: int,
    salt: int,
    bits: int,
    slots: Int32Array,
    buckets: Int32Array,
    end: int,
) -> int:
    """Add the n-grams of characters, but not a single blank; returns the new end."""
    for i in range(size):
        state = np.uint64(salt)
        for n in range(1, min(longest, size - i) + 1):
            state = mix(state, codes[i + n - 1])
            if n >= shortest and not (n == 1 and codes[i] == BLANK):
                end = add_bucket(state, bits, slots, buckets, end)
    return end


@jit
def hash_words(folded: UInt32Array, size: int, words: UInt64Array) -> int:
    """The hash of each word between blanks; returns their number."""
    count, state = 0, np.uint64(WORD_SALT)
    for i in range(1, size):
        if folded[i] != BLANK:
            state = mix(state, folded[i])
        elif folded[i - 1] != BLANK:
            words[count] = state
            count += 1
            state = np.uint64(WORD_SALT)
    return count


@jit
def add_word_ngrams(
    words: UInt64Array,
    count: int,
    longest: int,
    bits: int,
    slots: Int32Array,
    buckets: Int32Array,
    end: int,
) -> int:
    """Add the n-grams of words; returns the new end."""
    for i in range(count):
        state = np.uint64(WORD_SALT)
        for n in range(1, min(longest, count - i) + 1):
            state = mix(state, words[i + n - 1])
            end = add_bucket(state, bits, slots, buckets, end)
    return end


@jit
def add_bucket(state: Any, bits: int, slots: Int32Array, buckets: Int32Array, end: int) -> int:
    """Append the bucket of a hash unless this text has it; returns the new end."""
    bucket = np.int32(state >> np.uint64(64 - bits))
    mask = len(slots) - 1
    slot = np.int64(bucket) & mask
    while slots[slot] != -1:
        if slots[slot] == bucket:
            return end
        slot = (slot + 1) & mask
    slots[slot] = bucket
    buckets[end] = bucket
    return end + 1
