"""The rows of texts in a supervised model of fastText: words, their n-grams, and n-grams of words.

Bytes, hashes and order of operations are fastText's. All words of a batch are hashed at once, in
NumPy. Knows nothing of labels.
"""

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from malmoi.arrays import Float64Array, Int32Array, Int64Array, UInt32Array
from malmoi.formats.fasttext.supervised_model import PREFIX, SupervisedModel
from malmoi.kernels.classify.sets import Sets

LINE_END = b"</s>"
TOKEN = re.compile(r"[^ \n\r\t\v\f\0]+")
FNV_START, FNV_PRIME = np.uint32(2166136261), np.uint32(16777619)
WORD_NGRAM_FACTOR = np.uint64(116049371)
LONGEST_CHARACTER = 4  # bytes
LABEL = PREFIX.encode()


class FastTextFeatures:
    """Finds the rows of words and n-grams of a supervised model."""

    def __init__(self, model: SupervisedModel) -> None:
        self.model = model

    @cached_property
    def _rows_of_words(self) -> dict[bytes, int]:
        words = self.model.words
        return {words.bytes_at(i): i for i in range(len(words))}

    def tokens(self, text: str) -> list[bytes]:
        """The words of a text and the end of its line, where fastText stops; no labels."""
        matched = [one.encode("utf-8", "surrogatepass") for one in TOKEN.findall(text)]
        end = matched.index(LINE_END) if LINE_END in matched else len(matched)
        return [*(one for one in matched[:end] if not one.startswith(LABEL)), LINE_END]

    def sums(self, tokens: Sequence[bytes]) -> tuple[Float64Array, Int64Array]:
        """The sum of the rows of each token, [tokens, dim], and how many rows it has."""
        rows = self._token_rows(tokens)
        sums = np.zeros((len(tokens), self.model.output.shape[1]))
        owners = np.repeat(np.arange(len(tokens)), rows.sizes)
        for first in range(0, len(owners), 1 << 18):
            part = slice(first, first + (1 << 18))
            own, starts = np.unique(owners[part], return_index=True)
            sums[own] += np.add.reduceat(self._vectors(rows.items[part]), starts)
        return sums, rows.sizes

    def word_ngram_sum(self, tokens: Sequence[bytes]) -> tuple[Float64Array, int]:
        """The sum of the rows of the n-grams of words, and their number."""
        order, count = self.model.word_ngrams, len(tokens)
        hashes = hash_spans(tokens).view(np.int32).astype(np.int64).view(np.uint64)
        matched, state = list[Int64Array](), hashes
        for n in range(2, order + 1):
            if n > count:
                break
            state = state[: count - n + 1] * WORD_NGRAM_FACTOR + hashes[n - 1 :]
            matched.append((state % np.uint64(self.model.buckets)).astype(np.int64))
        rows = self._bucket_rows(np.concatenate([np.zeros(0, np.int64), *matched]))
        rows = rows[rows >= 0]
        return self._vectors(rows).sum(axis=0), len(rows)

    def _vectors(self, rows: Int32Array | Int64Array) -> Float64Array:
        words = len(self.model.word_rows)
        vectors = np.empty((len(rows), self.model.output.shape[1]))
        is_word = rows < words
        vectors[is_word] = self.model.word_rows[rows[is_word]]
        vectors[~is_word] = self.model.bucket_rows[rows[~is_word] - words]
        return vectors

    def _bucket_rows(self, buckets: Int64Array) -> Int64Array:
        """The rows of buckets, after those of the words; -1 for pruned ones."""
        words, kept = len(self.model.words), self.model.kept
        if kept is None:
            return buckets + words
        if not len(kept):
            return np.full(len(buckets), -1)
        matched = np.minimum(np.searchsorted(kept, buckets), len(kept) - 1)
        return np.where(kept[matched] == buckets, matched + words, -1)

    def _token_rows(self, tokens: Sequence[bytes]) -> Sets:
        """The rows of each token: its own, if it is known, and those of its n-grams."""
        known = np.array([self._rows_of_words.get(token, -1) for token in tokens], np.int64)
        owners, rows = np.arange(len(tokens))[known >= 0], known[known >= 0]
        if self.model.max_n > 0 and self.model.buckets > 0:
            own, hashes = self._ngram_hashes(tokens)
            matched = self._bucket_rows((hashes % np.uint32(self.model.buckets)).astype(np.int64))
            owners = np.concatenate([owners, own[matched >= 0]])
            rows = np.concatenate([rows, matched[matched >= 0]])
        order = np.argsort(owners, kind="stable")
        sizes = np.bincount(owners, minlength=len(tokens))
        return Sets(np.concatenate([[0], np.cumsum(sizes)]), rows[order].astype(np.int32))

    def _ngram_hashes(self, tokens: Sequence[bytes]) -> tuple[Int64Array, UInt32Array]:
        """The token and the hash of each n-gram of characters; the end of a line has none."""
        wrapped = [b"" if token == LINE_END else b"<%b>" % token for token in tokens]
        data = np.frombuffer(b"".join(wrapped), np.uint8)
        ends = np.cumsum([len(each) for each in wrapped])
        starts = np.flatnonzero((data & 0xC0) != 0x80)  # of characters
        owner = np.searchsorted(ends, starts, "right")
        bounds = np.append(starts, len(data))
        signed = data.view(np.int8).astype(np.int32).view(np.uint32)
        last = np.append(owner[1:] != owner[:-1], True)
        first = np.append(True, last[:-1])
        owners, hashes = list[Int64Array](), list[UInt32Array]()
        state, begin = np.full(len(starts), FNV_START, np.uint32), np.arange(len(starts))
        for n in range(1, self.model.max_n + 1):
            inside = begin + n - 1 < len(starts)
            begin, state = begin[inside], state[inside]
            same = owner[begin + n - 1] == owner[begin]
            begin, state = begin[same], state[same]
            at, stop = bounds[begin + n - 1], bounds[begin + n]
            for byte in range(LONGEST_CHARACTER):
                has = at + byte < stop
                state[has] = (state[has] ^ signed[(at + byte)[has]]) * FNV_PRIME
            used = ~(first[begin] | last[begin]) if n == 1 else np.ones(len(begin), np.bool_)
            if n >= self.model.min_n:
                owners.append(owner[begin[used]])
                hashes.append(state[used])
        if not owners:
            return np.zeros(0, np.int64), np.zeros(0, np.uint32)
        return np.concatenate(owners), np.concatenate(hashes)


def hash_spans(tokens: Sequence[bytes]) -> UInt32Array:
    """fastText's hash of whole tokens: 32-bit FNV-1a over signed bytes."""
    sizes = np.array([len(token) for token in tokens])
    starts = np.cumsum(sizes) - sizes
    data = np.frombuffer(b"".join(tokens), np.int8).astype(np.int32).view(np.uint32)
    state = np.full(len(tokens), FNV_START, np.uint32)
    for byte in range(int(sizes.max(initial=0))):
        has = np.flatnonzero(sizes > byte)
        state[has] = (state[has] ^ data[starts[has] + byte]) * FNV_PRIME
    return state
