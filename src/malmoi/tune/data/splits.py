"""Splits of texts with labels: a part to learn from and a part to test, or folds.

The test part is stratified, and has no text that is also in the other part: such a text would be
remembered, not classified.
"""

from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Int64Array
from malmoi.evaluate.scores import seeded_generator
from malmoi.tune.data.labelled_set import LabelledSet


@dataclass(frozen=True, eq=False)
class TextSplit:
    """Row numbers of the texts to learn from and to test; `repeats` are test texts left out."""

    train: Int64Array
    test: Int64Array
    repeats: int


def split_texts(data: LabelledSet, test_share: float, seed: int) -> TextSplit:
    """A stratified split; texts that are in both parts, or twice in the test part, are left out."""
    return _without_repeats(data, stratified_sample(data.first_labels, test_share, seed))


def split_folds(data: LabelledSet, folds: int, seed: int) -> list[TextSplit]:
    """Each text is tested once, by what was learned from the other folds."""
    numbers = stratified_folds(data.first_labels, folds, seed)
    return [_without_repeats(data, np.flatnonzero(numbers == fold)) for fold in range(folds)]


def _without_repeats(data: LabelledSet, test: Int64Array) -> TextSplit:
    train = np.delete(np.arange(len(data)), test)
    seen = {data.texts[i] for i in train}
    distinct = []
    for i in test.tolist():
        if data.texts[i] not in seen:
            seen.add(data.texts[i])
            distinct.append(i)
    return TextSplit(train, np.array(distinct, np.int64), len(test) - len(distinct))


def stratified_sample(labels: Int64Array, share: float, seed: int) -> Int64Array:
    """Rows that are a share of each class, one of each at least, in ascending order."""
    random, chosen = seeded_generator(seed), []
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        count = max(1, round(share * len(members)))
        chosen.append(random.permutation(members)[:count])
    return np.sort(np.concatenate(chosen))


def stratified_folds(labels: Int64Array, folds: int, seed: int) -> Int64Array:
    """The fold of each row, from 0; each class is spread over all folds."""
    random, numbers = seeded_generator(seed), np.empty(len(labels), np.int64)
    first = 0
    for label in np.unique(labels):
        members = random.permutation(np.flatnonzero(labels == label))
        numbers[members] = (first + np.arange(len(members))) % folds
        first += len(members)  # so that small classes do not all fill the first folds
    return numbers
