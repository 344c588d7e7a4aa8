"""Counts the n-grams of a text."""

from collections.abc import Iterator

import numpy as np

from malmoi.arguments import expect_integer
from malmoi.arrays import UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.counts.count_ngrams import CountedOrder, pack, words_before
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.keys import Keys
from malmoi.models.ngram_counts import NgramCounts
from malmoi.models.sentences import BEGIN, END, UNKNOWN_WORD, check_no_marks
from malmoi.models.trie import Trie
from malmoi.reporting.reporter import (
    DEFAULT_REPORTER,
    Progress,
    Reporter,
    expect_reporter,
    no_progress,
)
from malmoi.text.encoded import EncodedCorpus
from malmoi.train.common.inputs import TextInput, encode_text
from malmoi.vocabulary import Vocabulary


def count_ngrams(
    text: TextInput,
    order: int = 3,
    *,
    min_count: int = 1,
    reporter: Reporter = DEFAULT_REPORTER,
) -> NgramCounts:
    """Count the n-grams of a text.

    Args:
        text: Path of a file or folder; sentences as strings or as lists of tokens, in a list, a
            generator, a Series or an array; a `Corpus` or an `EncodedCorpus`.
        order: Words in the longest n-gram.
        min_count: Rarer words become `<unk>`.
        reporter: Receives progress in orders, and warnings.

    Returns:
        The counts of all n-grams up to `order`.

    Raises:
        InvalidArgumentError: The text has no words, or none that is frequent enough.

    Example:
        counts = mm.count_ngrams(["I am Sam", "Sam I am"], order=2)
    """
    expect_reporter(reporter)
    corpus = encode_text(text, reporter=reporter)
    progress = reporter.stage("counting n-grams")
    return count_corpus_ngrams(corpus, order, min_count=min_count, progress=progress)


def count_corpus_ngrams(
    corpus: EncodedCorpus, order: int, *, min_count: int, progress: Progress = no_progress
) -> NgramCounts:
    """Count the n-grams of an encoded corpus; progress counts orders."""
    ids, single = frequent_ids(corpus, order, min_count)
    return count_lines(ids, single, order, progress=progress)


def frequent_ids(corpus: EncodedCorpus, order: int, min_count: int) -> tuple[UInt32Array, Trie]:
    """The ids of a corpus with UNKNOWN for rare words, and a trie of the words, with marks."""
    ids, vocabulary = corpus.ids, corpus.vocabulary
    check_counting(order, min_count)
    check_no_marks(mark for mark in (BEGIN, END) if mark in vocabulary)
    if not np.any(ids != LINE_END):
        raise InvalidArgumentError("the corpus has no words: give a text with at least one word")
    ids, words = replace_rare(ids, vocabulary, min_count)
    marks = [mark for mark in (UNKNOWN_WORD, BEGIN, END) if mark not in words]
    return ids, Trie(Keys.of([*words, *marks]), ())


def count_lines(
    ids: UInt32Array, single: Trie, order: int, *, progress: Progress = no_progress
) -> NgramCounts:
    """Count the n-grams of lines of ids of the words of a trie; progress counts orders."""
    levels: list[CountedOrder] = []
    for level in count_orders(single.marked(ids), single.begin, len(single.words), order):
        levels.append(level)
        progress(len(levels), order)
    return NgramCounts(
        Trie(single.words, tuple(level.packed for level in levels[1:])),
        tuple(level.counts for level in levels),
        tuple(level.suffixes for level in levels),
    )


def count_orders(tokens: UInt32Array, begin: int, words: int, order: int) -> Iterator[CountedOrder]:
    """Count the n-grams of a stream with marked lines, one order after the other.

    No n-gram crosses the start of a line. `words` is the size of the vocabulary.
    """
    all_words = np.arange(words)
    single = np.bincount(tokens, minlength=words)
    yield CountedOrder(all_words.astype(np.uint64), single, np.zeros_like(all_words))
    before = words_before(tokens, begin)
    rows = tokens.astype(np.int64)  # of the n-gram, one order below, that ends at each token
    for length in range(2, order + 1):
        ends = np.flatnonzero(before >= length - 1)
        packed, first, inverse, counts = np.unique(
            pack(rows[ends - 1], tokens[ends]),
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        yield CountedOrder(packed, counts, rows[ends[first]])
        rows[ends] = inverse


def check_counting(order: int, min_count: int) -> None:
    """Check the settings of counting."""
    for name, value in (("order", order), ("min_count", min_count)):
        expect_integer(value, name)
        if value < 1:
            raise InvalidArgumentError(f"{name} is {value}: it must be at least 1")


def replace_rare(
    ids: UInt32Array, vocabulary: Vocabulary, min_count: int
) -> tuple[UInt32Array, Keys]:
    """Return the stream with UNKNOWN for rare words, and the other words."""
    is_frequent = vocabulary.counts >= min_count
    if is_frequent.all():
        return ids, vocabulary.words
    if not is_frequent.any():
        raise InvalidArgumentError(
            f"no word occurs {min_count} times, the most frequent one"
            f" {vocabulary.counts.max():,} times: lower min_count"
        )
    renumbered = np.where(is_frequent, np.cumsum(is_frequent) - 1, UNKNOWN).astype(np.uint32)
    is_word = ids < UNKNOWN
    ids = ids.copy()
    ids[is_word] = renumbered[ids[is_word]]
    return ids, vocabulary.words.take(np.flatnonzero(is_frequent))
