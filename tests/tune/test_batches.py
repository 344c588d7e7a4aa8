"""Batches: similar lengths, every example once, no duplicates among in-batch negatives."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from malmoi.tune.data.batches import NumberedExamples, epoch_batches
from malmoi.tune.sentence.settings import ObjectiveName


def examples(texts: Sequence[tuple[int, ...]], objective: ObjectiveName) -> NumberedExamples:
    numbers = np.array(texts, np.int64).reshape(-1, len(texts[0]) if texts else 2)
    labels = np.zeros(len(texts), np.float32)
    return NumberedExamples(numbers, numbers.sum(axis=1), labels, objective)


def random_examples(count: int, objective: ObjectiveName = "cosine") -> NumberedExamples:
    random = np.random.default_rng(1)
    return examples([tuple(row) for row in random.integers(0, 100, (count, 2))], objective)


def test_every_example_is_in_one_batch_of_an_epoch_and_the_order_changes() -> None:
    sets = [random_examples(100), random_examples(33)]
    epochs = [epoch_batches(sets, 8, 1, epoch) for epoch in (0, 1)]
    for batches in epochs:
        for number, one in enumerate(sets):
            rows = np.concatenate([batch.rows for batch in batches if batch.data_set == number])
            assert sorted(rows) == list(range(len(one)))
    assert [b.rows.tolist() for b in epochs[0]] != [b.rows.tolist() for b in epochs[1]]
    again = epoch_batches(sets, 8, 1, 0)
    assert [b.rows.tolist() for b in epochs[0]] == [b.rows.tolist() for b in again]


def test_data_sets_are_mixed() -> None:
    batches = epoch_batches([random_examples(400), random_examples(400)], 8, 1, 0)
    first_half = [batch.data_set for batch in batches[: len(batches) // 2]]
    assert 15 < sum(first_half) < 35  # of 50


def test_examples_of_a_batch_have_similar_lengths() -> None:
    one = random_examples(2000)
    spreads = [np.ptp(one.tokens[batch.rows]) for batch in epoch_batches([one], 16, 1, 0)]
    assert np.mean(spreads) < np.ptp(one.tokens) / 8


pairs = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=60)


@given(texts=pairs, batch_size=st.integers(2, 6))
def test_no_text_is_twice_in_a_batch_of_in_batch_negatives(
    texts: list[tuple[int, int]], batch_size: int
) -> None:
    one = examples(texts, "multiple_negatives")
    batches = epoch_batches([one], batch_size, 1, 0)
    rows = [row for batch in batches for row in batch.rows.tolist()]
    assert len(rows) == len(set(rows))
    for batch in batches:
        assert 2 <= len(batch.rows) <= batch_size
        used = [text for row in batch.rows for text in set(one.texts[row].tolist())]
        assert len(used) == len(set(used))


def test_distinct_texts_are_all_used_in_full_batches() -> None:
    one = examples([(2 * i, 2 * i + 1) for i in range(64)], "multiple_negatives")
    assert [len(batch.rows) for batch in epoch_batches([one], 16, 1, 0)] == [16] * 4


def test_an_example_with_negatives_of_its_own_can_be_alone() -> None:
    one = examples([(0, 1, 2), (0, 3, 4)], "multiple_negatives")
    assert [len(batch.rows) for batch in epoch_batches([one], 16, 1, 0)] == [1, 1]
    assert epoch_batches([examples([(0, 1), (0, 3)], "multiple_negatives")], 16, 1, 0) == []
