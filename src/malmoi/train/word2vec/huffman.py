"""Huffman tree of a vocabulary: one path of turns per word, short for frequent words."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Int64Array


class HuffmanPaths(NamedTuple):
    """Word w passes `nodes[starts[w] : starts[w + 1]]` from the root on and turns by `codes`."""

    starts: Int64Array
    nodes: npt.NDArray[np.int32]
    codes: npt.NDArray[np.uint8]


def huffman_paths(counts: Int64Array) -> HuffmanPaths:
    """The paths of all words; inner nodes are numbered in order of creation, the root is last.

    The two rarest nodes are merged until one is left, as in word2vec.c: words are sorted by
    count and merged nodes are created in ascending order, so the rarest are at the heads of two
    queues.
    """
    words = len(counts)
    order = np.argsort(counts, kind="stable")  # rarest first
    weights = [int(count) for count in counts[order]] + [0] * (words - 1)
    parents, codes = np.zeros(2 * words - 1, np.int64), np.zeros(2 * words - 1, np.uint8)
    word, node = 0, words  # the heads of the two queues
    for parent in range(words, 2 * words - 1):
        for code in (0, 1):
            if word < words and (node >= parent or weights[word] <= weights[node]):
                rarest, word = word, word + 1
            else:
                rarest, node = node, node + 1
            weights[parent] += weights[rarest]
            parents[rarest], codes[rarest] = parent, code
    return paths_to(words, order, parents, codes)


def paths_to(
    words: int, order: Int64Array, parents: Int64Array, codes: npt.NDArray[np.uint8]
) -> HuffmanPaths:
    """The path from the root to each word, followed from the leaf upwards."""
    word_nodes: list[list[int]] = [[] for _ in range(words)]
    word_codes: list[list[int]] = [[] for _ in range(words)]
    root = 2 * words - 2
    for leaf in range(words):
        node = leaf
        while node != root:
            word_codes[order[leaf]].append(int(codes[node]))
            node = int(parents[node])
            word_nodes[order[leaf]].append(node - words)
    starts = np.cumsum([0, *map(len, word_nodes)])
    nodes = np.array([node for path in word_nodes for node in reversed(path)], np.int32)
    turns = np.array([code for path in word_codes for code in reversed(path)], np.uint8)
    return HuffmanPaths(starts, nodes, turns)
