"""Sentences for a language model: lines of a corpus, cut to a length, and the words to predict.

Knows nothing about torch. The id of a word is its row in `CorpusText.characters`, which has every
word of the corpus; its target is its row in the vocabulary of the softmax.
"""

from dataclasses import dataclass

import numpy as np

from malmoi.arrays import BoolArray, Int16Array, Int64Array
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.keys import Keys
from malmoi.models.sentences import BEGIN, END, check_no_marks
from malmoi.text.character_ids import PADDING, boundary_ids, character_ids
from malmoi.text.encoded import EncodedCorpus
from malmoi.tune.elmo.settings import MAX_CHARACTERS, Elmo
from malmoi.vocabulary import Vocabulary

MARKS = ("<S>", "</S>", "<UNK>")  # the first rows of a vocabulary, as in bilm-tf
BEGIN_ROW, END_ROW, UNKNOWN_ROW = range(3)
STOPS = (".", "!", "?", "。")
CHUNK_WORDS = 1 << 14  # whose characters are looked up at a time


@dataclass(frozen=True, eq=False)
class Sentences:
    """Word ids end to end, and where each sentence starts; [sentences + 1]."""

    ids: Int64Array
    starts: Int64Array

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Int64Array:
        """The number of words of each sentence."""
        return np.diff(self.starts)

    @property
    def num_predicted(self) -> int:
        """The words to predict in one direction: all of them, and the end of each sentence."""
        return len(self.ids) + len(self)

    def grid(self, rows: Int64Array) -> Int64Array:
        """The ids of sentences of equal length, [words, sentences]."""
        length = self.starts[rows[0] + 1] - self.starts[rows[0]]
        return self.ids[self.starts[rows] + np.arange(length)[:, np.newaxis]]


@dataclass(frozen=True, eq=False)
class CorpusText:
    """A corpus as sentences to train on and sentences that are held out.

    Attributes:
        train: The sentences to train on.
        held_out: The others.
        words: The vocabulary of the softmax, `MARKS` first, with counts in `train`.
        targets: The row in `words` of each word id, of begin and of end; [ids + 2].
        characters: The characters of each word id, of begin and of end; [ids + 2, characters].
    """

    train: Sentences
    held_out: Sentences
    words: Vocabulary
    targets: Int64Array
    characters: Int16Array

    @property
    def begin(self) -> int:
        """The id of the begin of a sentence; that of the end is one more."""
        return len(self.targets) - 2

    def encoded(self, sentences: Sentences) -> EncodedCorpus:
        """Sentences with the words of the softmax, for n-gram models and LSA."""
        rows = self.targets[sentences.ids] - len(MARKS)
        known = np.where(rows < 0, UNKNOWN, rows).astype(np.uint32)
        ids = np.insert(known, sentences.starts[1:], np.uint32(LINE_END))
        words = self.words.words.take(np.arange(len(MARKS), len(self.words)))
        return EncodedCorpus(ids, Vocabulary(words, self.words.counts[len(MARKS) :]))


def prepare_text(corpus: EncodedCorpus, settings: Elmo) -> CorpusText:
    """Cut the lines of a corpus, hold some out, and choose the words to predict."""
    check_no_marks(mark for mark in (BEGIN, END) if mark in corpus.vocabulary)
    lines = _lines(corpus)
    if len(lines) < 2:
        raise InvalidArgumentError(
            f"the corpus has {len(lines)} lines with words: give two or more, one to train on and"
            " one to hold out"
        )
    random = np.random.default_rng(settings.seed)
    order, number = random.permutation(len(lines)), max(1, round(settings.held_out * len(lines)))
    words = [*corpus.vocabulary.words, MARKS[UNKNOWN_ROW]]
    is_stop = np.isin(np.array(words, dtype=object), STOPS)
    held_out, train = (
        _cut([lines[row] for row in np.sort(rows)], is_stop, settings.max_length)
        for rows in (order[:number], order[number:])
    )
    counts = np.bincount(train.ids, minlength=len(words))[:-1]
    chosen = Vocabulary.chosen(
        corpus.vocabulary.words,
        counts,
        min_count=settings.min_count,
        size=settings.max_vocab_size,
        special=MARKS,
    )
    if len(chosen) == len(MARKS):
        raise InvalidArgumentError(
            f"no word occurs {settings.min_count} times, the most frequent one {counts.max():,}"
            " times: lower min_count"
        )
    rows = chosen.words.find_all(Keys.of(words))
    rows[rows < len(MARKS)] = UNKNOWN_ROW  # words that are not there, or that look like a mark
    targets = np.append(rows, [BEGIN_ROW, END_ROW])
    marked = np.bincount(targets[train.ids], minlength=len(chosen))
    marked[[BEGIN_ROW, END_ROW]] = len(train)
    return CorpusText(
        train, held_out, Vocabulary(chosen.words, marked), targets, _characters(words, settings)
    )


def _lines(corpus: EncodedCorpus) -> list[Int64Array]:
    """The word ids of each line that has words; unknown words have one id more than the others."""
    ends = np.flatnonzero(corpus.ids == LINE_END)
    ids = np.where(corpus.ids == UNKNOWN, len(corpus.vocabulary), corpus.ids).astype(np.int64)
    lines = np.split(ids, ends + 1)
    return [line for part in lines if len(line := part[part != LINE_END])]


def _cut(lines: list[Int64Array], is_stop: BoolArray, most: int) -> Sentences:
    """Lines as sentences of at most so many words, cut after a full stop where there is one."""
    parts: list[Int64Array] = []
    for line in lines:
        start = 0
        while len(line) - start > most:
            stops = np.flatnonzero(is_stop[line[start : start + most]])
            length = int(stops[-1]) + 1 if len(stops) else most
            parts.append(line[start : start + length])
            start += length
        parts.append(line[start:])
    starts = np.cumsum([0, *(len(part) for part in parts)])
    return Sentences(np.concatenate(parts), starts)


def _characters(words: list[str], settings: Elmo) -> Int16Array:
    """The character ids of words and of both boundaries, as narrow as the longest word allows."""
    chunks = [
        character_ids(words[i : i + CHUNK_WORDS], MAX_CHARACTERS, settings.characters)
        for i in range(0, len(words), CHUNK_WORDS)
    ]
    return np.concatenate([*chunks, boundary_ids(MAX_CHARACTERS)]).astype(np.int16)


def num_characters(rows: Int16Array) -> Int64Array:
    """The number of characters of each word, with its begin and end."""
    sizes: Int64Array = np.count_nonzero(rows != PADDING, axis=1)
    return sizes
