"""The vectors of a vocabulary from the rows of words and character n-grams, as in fastText."""

import numpy as np

from malmoi.arrays import Float32Array, Int32Array, Int64Array, UInt8Array
from malmoi.kernels.core.checks import ArrayOf, Offsets, Within, checked, require, require_range
from malmoi.kernels.core.jit import jit


def _require_ngrams(
    packed: UInt8Array,
    offsets: Int64Array,
    own: Float32Array,
    ngrams: Float32Array,
    min_n: int,
    max_n: int,
    buckets: int,
    kept_buckets: Int32Array,
    pruned: bool,
    *others: object,
) -> None:
    """Check that there is one row per bucket, or per bucket that was not pruned."""
    rows = len(kept_buckets) if pruned else buckets
    if max_n > 0:
        require(0 < buckets < 2**31, f"buckets is {buckets}, not from 1 to 2,147,483,647")
        require(len(ngrams) >= rows, f"{rows} buckets need as many rows, not {len(ngrams)}")


@checked(
    _require_ngrams,
    packed=ArrayOf(np.uint8, "bytes"),
    offsets=Offsets("words", into="bytes"),
    own=ArrayOf(np.float32, "words", "dim"),
    ngrams=ArrayOf(np.float32, "ngrams", "dim"),
    kept_buckets=ArrayOf(np.int32, "kept_buckets"),
    out=ArrayOf(np.float32, "words", "dim"),
    first=Within("words"),
    last=Within("words"),
)
@jit
def word_vectors(
    packed: UInt8Array,
    offsets: Int64Array,
    own: Float32Array,
    ngrams: Float32Array,
    min_n: int,
    max_n: int,
    buckets: int,
    kept_buckets: Int32Array,
    pruned: bool,
    out: Float32Array,
    first: int,
    last: int,
) -> None:
    """out[i] = mean of own[i] and the rows of the n-grams of word i, `<` and `>` around it."""
    word_buckets = np.empty(0, dtype=np.int32)
    for i in range(first, last):
        start, stop = offsets[i], offsets[i + 1]
        max_count = min(max(0, max_n), stop - start + 2) * (stop - start + 2)
        if max_count > len(word_buckets):
            word_buckets = np.empty(2 * max_count, dtype=np.int32)
        count = ngram_buckets(packed, start, stop, min_n, max_n, buckets, word_buckets)
        out[i, :] = own[i, :]
        rows = 1
        for j in range(count):
            row = find(kept_buckets, word_buckets[j]) if pruned else word_buckets[j]
            if row >= 0:
                out[i, :] += ngrams[row, :]
                rows += 1
        out[i, :] *= np.float32(1.0 / rows)


@jit
def ngram_buckets(
    packed: UInt8Array,
    start: int,
    stop: int,
    min_n: int,
    max_n: int,
    buckets: int,
    out: Int32Array,
) -> int:
    """Write the buckets of a word's n-grams to `out`, as many as fit; returns their number."""
    count = 0
    if max_n <= 0 or is_line_end(packed, start, stop):
        return count
    # Positions count from the `<`: 0 is `<`, 1 … size are the word's bytes, size + 1 is `>`.
    size = stop - start
    for begin in range(size + 2):
        if begin > 0 and is_continuation(byte_at(packed, start, size, begin)):
            continue
        at, hashed = begin, np.uint32(2166136261)
        for length in range(1, max_n + 1):
            if at > size + 1:
                break
            hashed = step(hashed, byte_at(packed, start, size, at))
            at += 1
            while at <= size and is_continuation(byte_at(packed, start, size, at)):
                hashed = step(hashed, byte_at(packed, start, size, at))
                at += 1
            edge = length == 1 and (begin == 0 or at == size + 2)
            if length < min_n or edge:
                continue
            if count < len(out):
                out[count] = np.int32(hashed % np.uint32(buckets))
            count += 1
    return count


def _require_lists(
    packed: UInt8Array,
    offsets: Int64Array,
    lengths: Int32Array,
    buckets: int,
    ends: Int64Array,
    out: Int32Array,
) -> None:
    require(0 < buckets < 2**31, f"buckets is {buckets}, not from 1 to 2,147,483,647")
    if len(out):
        require_range("ends", ends, 0, len(out) + 1)


@checked(
    _require_lists,
    packed=ArrayOf(np.uint8, "bytes"),
    offsets=Offsets("words", into="bytes"),
    lengths=ArrayOf(np.int32, "words", 2),
    ends=ArrayOf(np.int64, "words"),
    out=ArrayOf(np.int32, "entries"),
)
@jit
def list_buckets(
    packed: UInt8Array,
    offsets: Int64Array,
    lengths: Int32Array,
    buckets: int,
    ends: Int64Array,
    out: Int32Array,
) -> None:
    """Append each word's buckets to its list, which ends at `ends[i]`; an empty `out` counts only.

    `lengths` [words, 2]: min_n and max_n of each word; a max_n of 0 means no n-grams.
    """
    empty = out[:0]
    for i in range(len(offsets) - 1):
        buffer = empty if len(out) == 0 else out[ends[i] :]
        start, stop = offsets[i], offsets[i + 1]
        min_n, max_n = lengths[i, 0], lengths[i, 1]
        ends[i] += ngram_buckets(packed, start, stop, min_n, max_n, buckets, buffer)


@jit
def byte_at(packed: UInt8Array, start: int, size: int, at: int) -> int:
    if at == 0:
        return ord("<")
    if at == size + 1:
        return ord(">")
    return int(np.int64(packed[start + at - 1]))


@jit
def step(hashed: np.uint32, byte: int) -> np.uint32:
    """One round of FNV-1a over a signed byte (fastText sign-extends it)."""
    return np.uint32((hashed ^ np.uint32(np.int32(np.int8(byte)))) * np.uint32(16777619))


@jit
def is_continuation(byte: int) -> bool:
    return (byte & 0xC0) == 0x80


@jit
def is_line_end(packed: UInt8Array, start: int, stop: int) -> bool:
    return (
        stop - start == 4
        and packed[start] == ord("<")
        and packed[start + 1] == ord("/")
        and packed[start + 2] == ord("s")
        and packed[start + 3] == ord(">")
    )


@jit
def find(kept_buckets: Int32Array, bucket: int) -> int:
    index = int(np.searchsorted(kept_buckets, bucket))
    return index if index < len(kept_buckets) and kept_buckets[index] == bucket else -1
