"""Words in bytes of text: split at white space, counted in a hash table and replaced by ids."""

from typing import NamedTuple

import numpy as np

from malmoi.arrays import Int32Array, Int64Array, UInt8Array, UInt32Array, UInt64Array
from malmoi.kernels.core.checks import ArrayOf, Offsets, Within, check_each, checked, require
from malmoi.kernels.core.jit import jit, jit_inline, jit_norefcount
from malmoi.kernels.marks import LINE_END, UNKNOWN

SEED = 14695981039346656037


@jit_inline
def is_space(byte: int) -> bool:
    """Space, tab, line feed, vertical tab, form feed, carriage return, and NUL."""
    return byte <= 32 and (byte == 32 or 9 <= byte <= 13 or byte == 0)


@jit_inline
def step(hashed: np.uint64, byte: int) -> np.uint64:
    """One round of 64-bit FNV-1a."""
    return (hashed ^ np.uint64(byte)) * np.uint64(1099511628211)


@jit_inline
def folded(hashed: np.uint64) -> np.uint64:
    """The high bits folded into the low ones, which select the slot."""
    return hashed ^ (hashed >> np.uint64(32))


@jit
def hash_span(text: UInt8Array, start: int, stop: int) -> np.uint64:
    hashed = np.uint64(SEED)
    for i in range(start, stop):
        hashed = step(hashed, text[i])
    return folded(hashed)


class WordHashTable(NamedTuple):
    """A hash table of words: word i is `arena[offsets[i] : offsets[i + 1]]`."""

    slots: Int32Array  # [a power of two], ids of words; −1 is free
    arena: UInt8Array
    offsets: Int64Array
    hashes: UInt64Array
    counts: Int64Array
    used: Int64Array  # [1], the number of words


def require_table(table: WordHashTable) -> None:
    """Check that the arrays of a table fit each other, and that a slot is free."""
    rules = {
        "slots": ArrayOf(np.int32, "slots"),
        "arena": ArrayOf(np.uint8, "bytes"),
        "offsets": ArrayOf(np.int64, len(table.counts) + 1),
        "hashes": ArrayOf(np.uint64, "words"),
        "counts": ArrayOf(np.int64, "words"),
        "used": ArrayOf(np.int64, 1),
    }
    check_each([(name, getattr(table, name), rule) for name, rule in rules.items()], {})
    require_slots(table.slots, len(table.counts))
    used = int(table.used[0])
    fits = 0 <= used <= len(table.counts) and 0 <= table.offsets[used] <= len(table.arena)
    require(fits, f"{used} words do not fit into a table for {len(table.counts)}")


def require_slots(slots: Int32Array, words: int) -> None:
    """Check that a search for a free slot ends."""
    count = len(slots)
    fits = count > words and count & (count - 1) == 0
    require(fits, f"{count} slots are not a power of two above {words}, the number of words")


def _require_scan(
    text: UInt8Array, at: int, out: UInt32Array, adding: bool, table: WordHashTable
) -> None:
    """Each byte makes at most one id."""
    require(len(out) >= len(text) - at, f"out holds {len(out)} ids for {len(text) - at} bytes")
    require_table(table)


@checked(
    _require_scan,
    text=ArrayOf(np.uint8, "bytes"),
    at=Within("bytes"),
    out=ArrayOf(np.uint32, "ids"),
)
@jit_norefcount
def scan_words(
    text: UInt8Array, at: int, out: UInt32Array, adding: bool, table: WordHashTable
) -> tuple[int, int]:
    """Count the words of `text[at:]` and write their ids to `out`, LINE_END for a line feed.

    If `adding`, new words are added to the table; otherwise their id is UNKNOWN. Returns the number
    of ids and the position after the text, or that of a word for which the table is too small.
    """
    written, start = 0, at
    hashed = np.uint64(SEED)
    for i in range(at, len(text) + 1):
        byte = int(np.int64(text[i])) if i < len(text) else 32
        if not is_space(byte):
            hashed = step(hashed, byte)
            continue
        if i > start:
            slot = find_slot(text, start, i, folded(hashed), table)
            if table.slots[slot] < 0 and adding:
                if not has_capacity(i - start, table):
                    return written, start
                add_word(text, start, i, folded(hashed), slot, table)
            word = table.slots[slot]
            if word >= 0:
                table.counts[word] += 1
            out[written] = np.uint32(word) if word >= 0 else np.uint32(UNKNOWN)
            written += 1
        if byte == 10:
            out[written] = np.uint32(LINE_END)
            written += 1
        start = i + 1
        hashed = np.uint64(SEED)
    return written, len(text)


@jit_inline
def find_slot(
    text: UInt8Array, start: int, stop: int, hashed: np.uint64, table: WordHashTable
) -> np.uint64:
    """The slot of a word, or the free slot where it would be."""
    mask = np.uint64(len(table.slots) - 1)
    slot = hashed & mask
    while table.slots[slot] >= 0 and not is_word(text, start, stop, hashed, slot, table):
        slot = (slot + np.uint64(1)) & mask
    return slot


@jit_inline
def is_word(
    text: UInt8Array,
    start: int,
    stop: int,
    hashed: np.uint64,
    slot: np.uint64,
    table: WordHashTable,
) -> bool:
    """Whether this is the word of an occupied slot."""
    word = table.slots[slot]
    begin = table.offsets[word]
    length = table.offsets[word + 1] - begin
    same = bool(table.hashes[word] == hashed and length == stop - start)
    if same:
        for j in range(stop - start):
            if table.arena[begin + j] != text[start + j]:
                same = False
                break
    return same


@jit_inline
def has_capacity(length: int, table: WordHashTable) -> bool:
    """Whether the table has capacity for another word of so many bytes."""
    words = int(table.used[0])
    return words < len(table.counts) and table.offsets[words] + length <= len(table.arena)


@jit_inline
def add_word(
    text: UInt8Array,
    start: int,
    stop: int,
    hashed: np.uint64,
    slot: np.uint64,
    table: WordHashTable,
) -> None:
    """Put a new word with count 0 into a free slot."""
    word = table.used[0]
    begin = table.offsets[word]
    for j in range(stop - start):
        table.arena[begin + j] = text[start + j]
    table.offsets[word + 1] = begin + stop - start
    table.hashes[word] = hashed
    table.counts[word] = 0
    table.slots[slot] = word
    table.used[0] = word + 1


@checked(
    ids=ArrayOf(np.uint32, "ids", below="words", marks=True),
    new_ids=ArrayOf(np.uint32, "words"),
)
@jit
def renumber(ids: UInt32Array, new_ids: UInt32Array) -> None:
    """Replace each id; LINE_END and UNKNOWN stay."""
    for i in range(len(ids)):
        if ids[i] < UNKNOWN:
            ids[i] = new_ids[ids[i]]


@checked(
    lambda slots, hashes, words: require_slots(slots, words),
    slots=ArrayOf(np.int32, "slots"),
    hashes=ArrayOf(np.uint64, "hashes"),
    words=Within("hashes"),
)
@jit
def fill_slots(slots: Int32Array, hashes: UInt64Array, words: int) -> None:
    """Put distinct words into empty slots."""
    mask = np.uint64(len(slots) - 1)
    for word in range(words):
        slot = hashes[word] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = word


@checked(
    packed=ArrayOf(np.uint8, "bytes"),
    offsets=Offsets("words", into="bytes"),
    hashes=ArrayOf(np.uint64, "words"),
)
@jit
def hash_all(packed: UInt8Array, offsets: Int64Array, hashes: UInt64Array) -> None:
    for word in range(len(offsets) - 1):
        hashes[word] = hash_span(packed, offsets[word], offsets[word + 1])
