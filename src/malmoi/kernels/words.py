"""Words in bytes of text: cut at white space, found in a hash table, counted and turned to ids.

A table is flat arrays: `slots` (a power of two; -1 is free) holds numbers of words; word i is
`arena[offsets[i] : offsets[i + 1]]` with `hashes[i]` and `counts[i]`; `used` is [words].
"""

import numpy as np
import numpy.typing as npt

from malmoi.kernels.compiled import compiled, inlined
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.kernels.numbers import Text
from malmoi.kernels.text_rows import Places

Slots = npt.NDArray[np.int32]
Hashes = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]
Ids = npt.NDArray[np.uint32]

SEED = 14695981039346656037


@inlined
def is_space(byte: int) -> bool:
    """Space, tab, line feed, vertical tab, form feed, carriage return, and NUL."""
    return byte <= 32 and (byte == 32 or 9 <= byte <= 13 or byte == 0)


@inlined
def step(hashed: np.uint64, byte: int) -> np.uint64:
    """One round of 64-bit FNV-1a."""
    return (hashed ^ np.uint64(byte)) * np.uint64(1099511628211)


@inlined
def folded(hashed: np.uint64) -> np.uint64:
    """The high bits folded into the low ones, which choose the slot."""
    return hashed ^ (hashed >> np.uint64(32))


@compiled
def hash_span(text: Text, start: int, stop: int) -> np.uint64:
    hashed = np.uint64(SEED)
    for i in range(start, stop):
        hashed = step(hashed, text[i])
    return folded(hashed)


@compiled
def scan_words(
    text: Text,
    at: int,
    out: Ids,
    adding: bool,
    slots: Slots,
    arena: Text,
    offsets: Places,
    hashes: Hashes,
    counts: Counts,
    used: Counts,
) -> tuple[int, int]:
    """Count the words of `text[at:]` and write their numbers to `out`, LINE_END for a line feed.

    New words are added to the table, or UNKNOWN. Returns how many numbers were written and
    the position after the text, or that of a word for which the table has no room. (All in
    one function, since passing this many arrays on for every word would cost more than all
    the rest.)
    """
    mask = np.uint64(len(slots) - 1)
    written, start, words = 0, at, used[0]
    hashed = np.uint64(SEED)
    for i in range(at, len(text) + 1):
        byte = int(np.int64(text[i])) if i < len(text) else 32
        if not is_space(byte):
            hashed = step(hashed, byte)
            continue
        if i > start:
            value = folded(hashed)
            slot = value & mask
            word = slots[slot]
            while word >= 0:
                begin = offsets[word]
                same = hashes[word] == value and offsets[word + 1] - begin == i - start
                if same:
                    for j in range(i - start):
                        if arena[begin + j] != text[start + j]:
                            same = False
                            break
                if same:
                    break
                slot = (slot + np.uint64(1)) & mask
                word = slots[slot]
            if word < 0 and adding:
                begin = offsets[words]
                if words >= len(counts) or begin + i - start > len(arena):
                    used[0] = words
                    return written, start
                for j in range(i - start):
                    arena[begin + j] = text[start + j]
                offsets[words + 1] = begin + i - start
                hashes[words] = value
                counts[words] = 0
                slots[slot] = word = np.int32(words)
                words += 1
            if word >= 0:
                counts[word] += 1
            out[written] = np.uint32(word) if word >= 0 else np.uint32(UNKNOWN)
            written += 1
        if byte == 10:
            out[written] = np.uint32(LINE_END)
            written += 1
        start = i + 1
        hashed = np.uint64(SEED)
    used[0] = words
    return written, len(text)


@compiled
def renumber(ids: Ids, numbers: Ids) -> None:
    """Each id its new number; marks stay."""
    for i in range(len(ids)):
        if ids[i] < UNKNOWN:
            ids[i] = numbers[ids[i]]


@compiled
def fill_slots(slots: Slots, hashes: Hashes, words: int) -> None:
    """Put words, all different, into an empty table of slots."""
    mask = np.uint64(len(slots) - 1)
    for word in range(words):
        slot = hashes[word] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = word


@compiled
def hash_all(packed: Text, offsets: Places, hashes: Hashes) -> None:
    for word in range(len(offsets) - 1):
        hashes[word] = hash_span(packed, offsets[word], offsets[word + 1])
