"""Batches of sentences of equal length: each distinct word once, sorted by its characters."""

from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Int16Array, Int64Array
from malmoi.tune.elmo.sentences import CorpusText, Sentences, num_characters

WORD_GROUPS = 4  # of a batch, by length: each is as wide as its longest word


@dataclass(frozen=True, eq=False)
class SentenceBatch:
    """Sentences of equal length; `seed` is that of what is drawn at random for them."""

    sentences: Sentences
    rows: Int64Array
    seed: tuple[int, ...] = (0,)

    def __len__(self) -> int:
        """The number of words to predict in one direction."""
        return len(self.rows) * (int(self.sentences.lengths[self.rows[0]]) + 1)


@dataclass(frozen=True, eq=False)
class WordGrid:
    """A batch for the network.

    Attributes:
        groups: The characters of the distinct words, in groups of similar length.
        positions: The number of the word at each position, [words + 2, sentences].
        targets: Its row in the softmax; [words + 2, sentences].
    """

    groups: tuple[Int16Array, ...]
    positions: Int64Array
    targets: Int64Array


def word_grid(text: CorpusText, batch: SentenceBatch, widest_filter: int) -> WordGrid:
    """The distinct words of a batch, and where they are.

    A word is as wide as its group needs: its characters, and as much padding as the widest filter
    covers. All other windows of the CNN hold padding alone, as the last one does already.
    """
    words = batch.sentences.grid(batch.rows)
    boundary = np.full((1, words.shape[1]), text.begin)
    ids = np.concatenate([boundary, words, boundary + 1])
    distinct, positions = np.unique(ids, return_inverse=True)
    rows = text.characters[distinct]
    sizes = num_characters(rows)
    order = np.argsort(sizes, kind="stable")
    numbers = np.empty_like(order)
    numbers[order] = np.arange(len(order))
    groups = tuple(
        np.ascontiguousarray(rows[part, : sizes[part[-1]] + widest_filter])
        for part in np.array_split(order, WORD_GROUPS)
        if len(part)
    )
    return WordGrid(groups, numbers[positions.reshape(ids.shape)], text.targets[ids])


def length_groups(
    sentences: Sentences, order: Int64Array, most: int, seed: tuple[int, ...] = ()
) -> list[SentenceBatch]:
    """Batches of at most so many words, each of sentences of one length, in this order."""
    lengths = sentences.lengths
    by_length = order[np.argsort(lengths[order], kind="stable")]
    changes = np.flatnonzero(np.diff(lengths[by_length])) + 1
    batches: list[SentenceBatch] = []
    for rows in np.split(by_length, changes):
        size = max(1, most // int(lengths[rows[0]] + 1))
        for first in range(0, len(rows), size):
            batch_seed = (*seed, len(batches))
            batches.append(SentenceBatch(sentences, rows[first : first + size], batch_seed))
    return batches


def epoch_batches(
    sentences: Sentences, batch_size: int, seed: int, epoch: int
) -> list[SentenceBatch]:
    """The batches of an epoch in random order, always the same for a seed and an epoch."""
    random = np.random.default_rng([seed, epoch])
    order = random.permutation(len(sentences))
    batches = length_groups(sentences, order, batch_size, (seed, epoch))
    return [batches[number] for number in random.permutation(len(batches))]
