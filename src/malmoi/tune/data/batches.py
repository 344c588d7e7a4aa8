"""The order of the examples: batches of similar length, several data sets in proportion.

Knows texts by their numbers only, and nothing of torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.tune.sentence.settings import ObjectiveName

BATCHES_SORTED = 32  # examples of so many batches are sorted by length together
IN_BATCH_NEGATIVES: tuple[ObjectiveName, ...] = ("multiple_negatives",)


@dataclass(frozen=True, eq=False)
class NumberedExamples:
    """Examples of one objective, whose texts are numbers."""

    texts: Int64Array  # [examples, columns]
    tokens: Int64Array  # [examples], of all their texts
    labels: Float32Array  # [examples], or [examples, dim] of a teacher
    objective: ObjectiveName

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, eq=False)
class ExampleBatch:
    """The rows of one data set that make up one step."""

    data_set: int
    rows: Int64Array

    def __len__(self) -> int:
        return len(self.rows)


def epoch_batches(
    sets: Sequence[NumberedExamples], batch_size: int, seed: int, epoch: int
) -> list[ExampleBatch]:
    """All batches of an epoch; each data set has as many as it has examples.

    Examples are shuffled, sorted by length within buckets of `BATCHES_SORTED` batches, and
    batches are shuffled again. With in-batch negatives no text occurs twice in a batch; a pair
    that is left without any negatives is not used in this epoch.
    """
    random = np.random.default_rng([seed, epoch])
    batches: list[ExampleBatch] = []
    for number, examples in enumerate(sets):
        order = random.permutation(len(examples))
        is_contrasted = examples.objective in IN_BATCH_NEGATIVES
        if is_contrasted:
            rows = _without_duplicates(examples, order, batch_size)
        else:
            rows = length_sorted(examples.tokens, order, batch_size)
        batches += [ExampleBatch(number, some) for some in rows]
    return [batches[i] for i in random.permutation(len(batches))]


def length_buckets(tokens: Int64Array, order: Int64Array, batch_size: int) -> list[Int64Array]:
    """An order in buckets of `BATCHES_SORTED` batches, each sorted by the number of tokens."""
    size = batch_size * BATCHES_SORTED
    parts = (order[start : start + size] for start in range(0, len(order), size))
    return [part[np.argsort(tokens[part], kind="stable")] for part in parts]


def length_sorted(tokens: Int64Array, order: Int64Array, batch_size: int) -> list[Int64Array]:
    """An order in batches of similar length."""
    return [
        bucket[start : start + batch_size]
        for bucket in length_buckets(tokens, order, batch_size)
        for start in range(0, len(bucket), batch_size)
    ]


def _without_duplicates(
    examples: NumberedExamples, order: Int64Array, batch_size: int
) -> list[Int64Array]:
    """The same; an example whose text is in the batch already waits for the next one."""
    batches: list[Int64Array] = []
    waiting: list[int] = []
    for bucket in length_buckets(examples.tokens, order, batch_size):
        waiting += bucket.tolist()
        while len(waiting) >= batch_size:
            full, rest = _fill(examples, waiting, batch_size)
            if len(full) < batch_size:
                break  # the others may fit to those of the next bucket
            batches.append(np.array(full))
            waiting = rest
    while waiting:
        full, waiting = _fill(examples, waiting, batch_size)
        if len(full) > 1 or examples.texts.shape[1] > 2:  # or it has negatives of its own
            batches.append(np.array(full))
    return batches


def _fill(
    examples: NumberedExamples, waiting: Sequence[int], batch_size: int
) -> tuple[list[int], list[int]]:
    """The first examples that share no text, and the others."""
    batch: list[int] = []
    rest: list[int] = []
    used: set[int] = set()
    for position, row in enumerate(waiting):
        if len(batch) == batch_size:
            rest += waiting[position:]
            break
        texts = set(examples.texts[row].tolist())
        if used.isdisjoint(texts):
            batch.append(row)
            used |= texts
        else:
            rest.append(row)
    return batch, rest
