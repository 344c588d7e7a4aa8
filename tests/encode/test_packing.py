import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from malmoi.encode.checkpoint.config import RELATIVE_BUCKETS
from malmoi.encode.runtime.batches import MAX_BATCH_TOKENS, batches, pack
from malmoi.encode.runtime.relative_positions import bias_indices, distance_buckets


@given(st.lists(st.integers(1, 1500), max_size=40))
def test_every_text_is_in_one_batch_within_the_budget(sizes: list[int]) -> None:
    groups = [group.tolist() for group in batches(np.array(sizes, np.int64))]
    assert sorted(text for group in groups for text in group) == list(range(len(sizes)))
    assert all(
        len(group) == 1 or sum(sizes[i] for i in group) <= MAX_BATCH_TOKENS for group in groups
    )
    order = [sizes[text] for group in groups for text in group]
    assert order == sorted(sizes, reverse=True)


@given(st.lists(st.integers(1, 7), min_size=1, max_size=6))
def test_the_padded_view_leads_there_and_back(sizes: list[int]) -> None:
    ids = [[10 * text + token for token in range(size)] for text, size in enumerate(sizes)]
    batch = pack(ids, [[text % 2] * len(text_ids) for text, text_ids in enumerate(ids)], 100)
    padded = batch.token_ids[batch.pad]  # [texts, longest]
    for text, expected in enumerate(ids):
        assert padded[text, : sizes[text]].tolist() == expected
        assert batch.attention_mask[text].sum() == sizes[text]
    assert padded.reshape(-1)[batch.unpad].tolist() == batch.token_ids.tolist()
    expected = [
        token + 100 * (text % 2) for text, size in enumerate(sizes) for token in range(size)
    ]
    assert batch.positions.tolist() == expected


def test_distances_fall_into_buckets_by_sign_and_size() -> None:
    near = distance_buckets(np.arange(-7, 8, dtype=np.int32)).tolist()
    assert near == [7, 6, 5, 4, 3, 2, 1, 0, 17, 18, 19, 20, 21, 22, 23]
    assert distance_buckets(np.array([-500, 500, -16, 16], np.int32)).tolist() == [15, 31, 10, 26]
    assert distance_buckets(np.arange(-600, 600, dtype=np.int32)).max() == RELATIVE_BUCKETS - 1
    assert bias_indices(3, 10).tolist() == [[9, 10, 11], [8, 9, 10], [7, 8, 9]]
