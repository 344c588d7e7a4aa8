import heapq
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.train.word2vec.huffman import HuffmanPaths, huffman_paths

COUNTS = st.lists(st.integers(0, 1000), min_size=2, max_size=60)


def codes_of(paths: HuffmanPaths) -> list[str]:
    bounds = zip(paths.starts[:-1], paths.starts[1:], strict=True)
    return ["".join(map(str, paths.codes[a:b].tolist())) for a, b in bounds]


def test_a_frequent_word_has_a_short_path() -> None:
    paths = huffman_paths(np.array([8, 4, 2, 1, 1]))
    assert [len(code) for code in codes_of(paths)] == [1, 2, 3, 4, 4]
    assert paths.nodes[paths.starts[:-1]].tolist() == [3] * 5  # all begin at the root


@given(COUNTS)
def test_no_path_is_the_beginning_of_another(counts: list[int]) -> None:
    codes = sorted(codes_of(huffman_paths(np.array(counts))))
    assert all(not after.startswith(code) for code, after in pairwise(codes))


@given(COUNTS)
def test_paths_are_as_short_as_can_be(counts: list[int]) -> None:
    """The sum of count times length is that of any optimal tree: each joining costs its sum."""
    heap, best = list(counts), 0
    heapq.heapify(heap)
    while len(heap) > 1:
        joined = heapq.heappop(heap) + heapq.heappop(heap)
        best += joined
        heapq.heappush(heap, joined)
    lengths = np.diff(huffman_paths(np.array(counts)).starts)
    assert int(np.array(counts) @ lengths) == best


@given(COUNTS)
def test_a_node_and_a_turn_lead_to_one_place(counts: list[int]) -> None:
    paths = huffman_paths(np.array(counts))
    assert set(paths.nodes.tolist()) == set(range(len(counts) - 1))
    leads: dict[tuple[int, int], int] = {}
    for word, (start, stop) in enumerate(zip(paths.starts[:-1], paths.starts[1:], strict=True)):
        places = [*paths.nodes[start:stop].tolist(), -1 - word]
        turns = paths.codes[start:stop].tolist()
        for node, turn, following in zip(places, turns, places[1:], strict=False):
            assert leads.setdefault((node, turn), following) == following
    assert len(leads) == 2 * (len(counts) - 1)


def test_two_words_have_a_path_of_one_turn() -> None:
    assert sorted(codes_of(huffman_paths(np.array([5, 5])))) == ["0", "1"]


@pytest.mark.parametrize("counts", [[3, 3, 3, 3], [1, 2, 3, 4]])
def test_every_run_gives_the_same_tree(counts: list[int]) -> None:
    first, second = (huffman_paths(np.array(counts)) for _ in range(2))
    assert codes_of(first) == codes_of(second)
