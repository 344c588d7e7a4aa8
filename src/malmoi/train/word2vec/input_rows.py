"""InputRows: which input rows each word has: its own, and those of its n-grams.

Rows are numbered without gaps: first one per word, then one per used bucket.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int32Array, Int64Array
from malmoi.kernels.core.jit import in_parallel, readonly_view
from malmoi.kernels.word2vec.rows import aligned_rows, mean_rows, measure_repeats
from malmoi.kernels.word2vec.subword_rows import list_buckets
from malmoi.keys import Keys
from malmoi.subwords import Subwords
from malmoi.train.common.memory import check_memory

NO_FORM = ("", 0, 0)  # a form without n-grams


@dataclass(frozen=True, eq=False)
class InputRows:
    """Word w has `rows[starts[w] : starts[w + 1]]`; row words + i is of `used_buckets[i]`."""

    starts: Int64Array
    rows: npt.NDArray[np.int32]
    used_buckets: Int32Array

    @property
    def words(self) -> int:
        """The number of words."""
        return len(self.starts) - 1

    def __len__(self) -> int:
        return self.words + len(self.used_buckets)

    @property
    def shares(self) -> npt.NDArray[np.float32]:
        """The factor of a word's gradient per row; below 1 where the word has a row twice."""
        shares = np.ones(self.words, np.float32)
        if len(self.used_buckets):
            measure_repeats(self.starts, self.rows, shares)
        return shares

    def means(self, inputs: Float32Array) -> Float32Array:
        """The vector of each word: the mean of its rows."""
        means = aligned_rows(self.words, inputs.shape[1])

        def task(first: int, last: int) -> None:
            mean_rows(inputs, self.starts, self.rows, means, first, last)

        in_parallel(task, self.words)
        return means


def word_input_rows(words: int) -> InputRows:
    """One row per word and no n-grams."""
    rows = np.arange(words + 1, dtype=np.int64)
    return InputRows(rows, rows[:-1].astype(np.int32), np.empty(0, np.int32))


def ngram_input_rows(keys: Keys, subwords: Subwords) -> InputRows:
    """One row per word, followed by the rows of its n-grams."""
    check_memory(5 * subwords.buckets)  # a flag and a row number per bucket
    bucket_starts, buckets = word_buckets(keys, subwords)
    is_used = np.zeros(subwords.buckets, np.bool_)
    is_used[buckets] = True
    used_buckets = np.flatnonzero(is_used).astype(np.int32)
    bucket_numbers = np.cumsum(is_used, dtype=np.int32)
    words = len(keys)
    starts = bucket_starts + np.arange(words + 1)  # each word has one more row, its own
    rows = np.empty(starts[-1], np.int32)
    is_bucket = np.ones(len(rows), np.bool_)
    is_bucket[starts[:-1]] = False
    rows[starts[:-1]] = np.arange(words)
    rows[is_bucket] = words - 1 + bucket_numbers[buckets]
    return InputRows(starts, rows, used_buckets)


def word_buckets(keys: Keys, subwords: Subwords) -> tuple[Int64Array, Int32Array]:
    """The buckets of all words, one list after another, and where each list starts."""
    forms = word_forms(keys, subwords)
    ends, buckets = np.zeros(len(keys), np.int64), np.empty(0, np.int32)
    for form, lengths in forms:  # the first pass only counts them
        list_buckets(form.packed, form.offsets, lengths, subwords.buckets, ends, buckets)
    starts = np.r_[0, np.cumsum(ends)]
    buckets, ends = np.empty(starts[-1], np.int32), starts[:-1].copy()
    for form, lengths in forms:
        list_buckets(form.packed, form.offsets, lengths, subwords.buckets, ends, buckets)
    return starts, buckets


def word_forms(keys: Keys, subwords: Subwords) -> list[tuple[Keys, Int32Array]]:
    """The forms of all words that n-grams are taken from, with min_n and max_n of each word."""
    if subwords.max_n <= 0:
        return []
    if subwords.units == "characters":
        lengths = np.array([(subwords.min_n, subwords.max_n)] * len(keys), np.int32)
        return [(read_only(keys), lengths)]
    forms = [subwords.forms(word) for word in keys]
    columns = []
    for i in range(max(map(len, forms))):
        column = [form[i] if i < len(form) else NO_FORM for form in forms]
        lengths = np.array([each[1:] for each in column], np.int32)
        columns.append((read_only(Keys.of([each[0] for each in column])), lengths))
    return columns


def read_only(keys: Keys) -> Keys:
    """The same keys, so that kernels are compiled for one kind of array only."""
    return Keys(readonly_view(keys.packed), readonly_view(keys.offsets))
