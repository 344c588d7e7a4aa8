"""Which input rows each word of a vocabulary has: its own, and those of its n-grams.

Rows are numbered without gaps: first the words', then one for each bucket that is used.
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
from malmoi.train.common.memory import require_memory

NOTHING = ("", 0, 0)  # a form without n-grams


@dataclass(frozen=True, eq=False)
class InputRows:
    """Word w has `rows[starts[w] : starts[w + 1]]`; row words + i is of bucket `used[i]`."""

    starts: Int64Array
    rows: npt.NDArray[np.int32]
    used: Int32Array

    @property
    def words(self) -> int:
        """How many words there are."""
        return len(self.starts) - 1

    def __len__(self) -> int:
        return self.words + len(self.used)

    @property
    def shares(self) -> npt.NDArray[np.float32]:
        """What part of a word's move its rows make; less than 1 where one is there twice."""
        shares = np.ones(self.words, np.float32)
        if len(self.used):
            measure_repeats(self.starts, self.rows, shares)
        return shares

    def means(self, inputs: Float32Array) -> Float32Array:
        """The vector of each word: the mean of its rows."""
        out = aligned_rows(self.words, inputs.shape[1])

        def task(first: int, last: int) -> None:
            mean_rows(inputs, self.starts, self.rows, out, first, last)

        in_parallel(task, self.words)
        return out


def own_rows(words: int) -> InputRows:
    """A row for each word and no n-grams."""
    rows = np.arange(words + 1, dtype=np.int64)
    return InputRows(rows, rows[:-1].astype(np.int32), np.empty(0, np.int32))


def ngram_rows(keys: Keys, subwords: Subwords) -> InputRows:
    """The rows of words and of their n-grams."""
    require_memory(5 * subwords.buckets)  # for which of them are used, and their numbers
    starts, found = distance_buckets(keys, subwords)
    is_used = np.zeros(subwords.buckets, np.bool_)
    is_used[found] = True
    used = np.flatnonzero(is_used).astype(np.int32)
    numbers = np.cumsum(is_used, dtype=np.int32)
    words = len(keys)
    places = starts + np.arange(words + 1)  # with one more row for each word before
    rows = np.empty(places[-1], np.int32)
    others = np.ones(len(rows), np.bool_)
    others[places[:-1]] = False
    rows[places[:-1]] = np.arange(words)
    rows[others] = words - 1 + numbers[found]
    return InputRows(places, rows, used)


def distance_buckets(keys: Keys, subwords: Subwords) -> tuple[Int64Array, Int32Array]:
    """Each word's buckets, one list after another, and where they start."""
    cuts, ends, found = (
        cuts_of(keys, subwords),
        np.zeros(len(keys), np.int64),
        np.empty(0, np.int32),
    )
    for form, lengths in cuts:  # at first they are only counted
        list_buckets(form.packed, form.offsets, lengths, subwords.buckets, ends, found)
    starts = np.r_[0, np.cumsum(ends)]
    found, ends = np.empty(starts[-1], np.int32), starts[:-1].copy()
    for form, lengths in cuts:
        list_buckets(form.packed, form.offsets, lengths, subwords.buckets, ends, found)
    return starts, found


def cuts_of(keys: Keys, subwords: Subwords) -> list[tuple[Keys, Int32Array]]:
    """The forms of all words that n-grams are taken from, with the n-grams' lengths."""
    if subwords.longest <= 0:
        return []
    if subwords.units == "letters":
        lengths = np.array([(subwords.shortest, subwords.longest)] * len(keys), np.int32)
        return [(read_only(keys), lengths)]
    forms = [subwords.forms(word) for word in keys]
    cuts = []
    for i in range(max(map(len, forms))):
        texts = [form[i] if i < len(form) else NOTHING for form in forms]
        lengths = np.array([each[1:] for each in texts], np.int32)
        cuts.append((read_only(Keys.of([each[0] for each in texts])), lengths))
    return cuts


def read_only(keys: Keys) -> Keys:
    """The same, so that kernels see one kind of array."""
    return Keys(readonly_view(keys.packed), readonly_view(keys.offsets))
