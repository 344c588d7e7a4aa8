"""Postings: an inverted index in flat arrays, which texts contain a word and how often.

The arrays can be memory-mapped. Knows nothing of scores, nor of how texts are split into words.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Int64Array, UInt32Array
from malmoi.deferred import Deferred, defer
from malmoi.errors import InvalidArgumentError
from malmoi.files.key_tensors import keys_as_tensors, keys_from_file, keys_from_tensors
from malmoi.files.tensors import Check, TensorFile, Tensors, check_tensors, no_check
from malmoi.keys import Keys

NO_POSTINGS, NO_INTEGERS = np.empty(0, np.uint32), np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Postings(Deferred):
    """Word t occurs `counts[i]` times in text `rows[i]`, for i from bounds[t] to bounds[t + 1]."""

    words: Keys
    bounds: Int64Array  # [words + 1]
    rows: UInt32Array  # [postings], ascending for each word
    counts: UInt32Array  # [postings]
    lengths: UInt32Array  # [texts], in words

    def of(self, word: str) -> tuple[UInt32Array, UInt32Array]:
        """The texts that contain a word, and how often."""
        at = self.words.find(word)
        if at < 0:
            return NO_POSTINGS, NO_POSTINGS
        span = slice(self.bounds[at], self.bounds[at + 1])
        return self.rows[span], self.counts[span]


def count_words(texts: Iterable[Sequence[str]]) -> Postings:
    """The postings of texts that are split into words."""
    numbers: dict[str, int] = {}
    lengths, flat = [], []
    for words in texts:
        lengths.append(len(words))
        flat += [numbers.setdefault(word, len(numbers)) for word in words]
    texts_of = np.repeat(np.arange(len(lengths)), lengths)
    once = np.ones(len(flat), np.int64)
    return _group(numbers, np.array(flat, np.int64), texts_of, once, np.array(lengths))


def join_postings(parts: Sequence[tuple[Postings, Int64Array]]) -> Postings:
    """Join the postings of some rows of several parts."""
    numbers: dict[str, int] = {}
    words, texts, counts, lengths, start = [], [], [], [], 0
    for part, rows in parts:
        new_rows = np.full(len(part.lengths), -1, np.int64)
        new_rows[rows] = start + np.arange(len(rows))
        start += len(rows)
        known = [numbers.setdefault(word, len(numbers)) for word in part.words]
        stays = new_rows[part.rows] >= 0
        words.append(np.repeat(np.array(known, np.int64), np.diff(part.bounds))[stays])
        texts.append(new_rows[part.rows][stays])
        counts.append(part.counts[stays].astype(np.int64))
        lengths.append(part.lengths[rows])
    here, there, times = (np.concatenate([NO_INTEGERS, *each]) for each in (words, texts, counts))
    return _group(numbers, here, there, times, np.concatenate([NO_POSTINGS, *lengths]))


def _group(
    words: Iterable[str],
    numbers: Int64Array,
    texts: Int64Array,
    counts: Int64Array,
    lengths: npt.NDArray[np.integer],
) -> Postings:
    """Occurrences sorted by word and text, those of the same word and text added up.

    Words that are left without a text are dropped.
    """
    pairs = numbers * max(1, len(lengths)) + texts
    order = np.argsort(pairs, kind="stable")
    first = np.flatnonzero(np.diff(pairs[order], prepend=-1))
    times = np.add.reduceat(counts[order], first) if len(first) else counts
    used, starts = np.unique(numbers[order][first], return_index=True)
    return Postings(
        Keys.of(words).take(used),
        np.append(starts, len(first)),
        texts[order][first].astype(np.uint32),
        times.astype(np.uint32),
        lengths.astype(np.uint32),
    )


def postings_as_tensors(postings: Postings) -> Tensors:
    """The arrays by name."""
    return {
        **keys_as_tensors(postings.words, "word"),
        "posting_bounds": postings.bounds,
        "posting_rows": postings.rows,
        "posting_counts": postings.counts,
        "word_lengths": postings.lengths,
    }


def postings_from_file(file: TensorFile) -> Postings:
    """Read postings from a file; those of a large file are verified on first use."""
    tensors = file.unverified() if file.is_large else file.arrays()
    check_tensors(tensors, 1, posting_bounds="<i8", posting_rows="<u4", posting_counts="<u4",
           word_lengths="<u4")  # fmt: skip
    postings = Postings(
        keys_from_file(file, "word") if file.is_large else keys_from_tensors(tensors, "word"),
        tensors["posting_bounds"],
        tensors["posting_rows"],
        tensors["posting_counts"],
        tensors["word_lengths"],
    )
    if len(postings.bounds) != len(postings.words) + 1 or len(postings.counts) != len(
        postings.rows
    ):
        raise InvalidArgumentError("the words do not fit their postings")
    checks = _checks(len(postings.rows), len(postings.lengths))
    if not file.is_large:
        for name, check in checks.items():
            check(getattr(postings, name))
        return postings
    names = {"bounds": "posting_bounds", "rows": "posting_rows", "counts": "posting_counts"}
    waiting = {name: replace(file.tensors[stored], check=checks.get(name, no_check))
               for name, stored in names.items()}  # fmt: skip
    defer(postings, {**waiting, "lengths": file.tensors["word_lengths"]})
    return postings


def _checks(postings: int, texts: int) -> dict[str, Check]:
    """Checks of the bounds and of the rows."""

    def check_bounds(bounds: Int64Array) -> None:
        if bounds[0] != 0 or bounds[-1] != postings or np.any(np.diff(bounds) < 0):
            raise InvalidArgumentError("the words do not fit their postings")

    def check_rows(rows: UInt32Array) -> None:
        if len(rows) and rows.max() >= texts:
            raise InvalidArgumentError(f"a word is in text {rows.max():,} of {texts:,}")

    return {"bounds": check_bounds, "rows": check_rows}
