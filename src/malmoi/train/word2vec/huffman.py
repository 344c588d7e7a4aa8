"""Huffman's tree of a vocabulary: each word a path of turns, short where it is frequent."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Int64Array


class Paths(NamedTuple):
    """Word w passes `nodes[starts[w] : starts[w + 1]]` from the root on, turning to `codes`."""

    starts: Int64Array
    nodes: npt.NDArray[np.int32]
    codes: npt.NDArray[np.uint8]


def huffman_paths(counts: Int64Array) -> Paths:
    """The tree's inner nodes are numbered as they are made: the root, the last, is words − 2.

    The two rarest are joined until one is left, as word2vec does: words come in falling order
    and joined ones in rising order, so the rarest of all are at the ends of two queues.
    """
    words = len(counts)
    order = np.argsort(counts, kind="stable")  # rarest first
    weights = [int(count) for count in counts[order]] + [0] * (words - 1)
    parents, codes = np.zeros(2 * words - 1, np.int64), np.zeros(2 * words - 1, np.uint8)
    word, node = 0, words  # the next of each queue
    for made in range(words, 2 * words - 1):
        for code in (0, 1):
            if word < words and (node >= made or weights[word] <= weights[node]):
                rarest, word = word, word + 1
            else:
                rarest, node = node, node + 1
            weights[made] += weights[rarest]
            parents[rarest], codes[rarest] = made, code
    return paths_to(words, order, parents, codes)


def paths_to(
    words: int, order: Int64Array, parents: Int64Array, codes: npt.NDArray[np.uint8]
) -> Paths:
    """Each word's way from the root, read off from the word's end."""
    nodes_of: list[list[int]] = [[] for _ in range(words)]
    turns_of: list[list[int]] = [[] for _ in range(words)]
    root = 2 * words - 2
    for leaf in range(words):
        at = leaf
        while at != root:
            turns_of[order[leaf]].append(int(codes[at]))
            at = int(parents[at])
            nodes_of[order[leaf]].append(at - words)
    starts = np.cumsum([0, *map(len, nodes_of)])
    nodes = np.array([node for path in nodes_of for node in reversed(path)], np.int32)
    turns = np.array([turn for path in turns_of for turn in reversed(path)], np.uint8)
    return Paths(starts, nodes, turns)
