"""A trie of tokens by their characters, with the score of each: what `segment` walks along.

The edges of all nodes are in one hash table, whose entries hold 64 bits each: the node an edge
leaves (23 bits), its character (17 bits), and the node it leads to (24 bits). Edges of the root
are many and the most used: they have a table by character. Tokens with a character beyond the
first two planes of Unicode are not in the trie.
"""

from typing import NamedTuple

import numpy as np

from malmoi.arrays import Float64Array, Int32Array, Int64Array, UInt32Array, UInt64Array
from malmoi.kernels.core.checks import require
from malmoi.kernels.core.jit import jit, jit_inline, readonly_view

CHARACTERS = 1 << 17  # code points of the first two planes
CHARACTER_BITS, NODE_BITS = np.uint64(17), np.uint64(24)
NODE_MASK = np.uint64((1 << 24) - 1)
MAX_NODES = 1 << 23
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ over the golden ratio: Fibonacci hashing
HIGH_BITS = np.uint64(32)


class TokenTrie(NamedTuple):
    """Node 0 is the root; 0 also stands for no node."""

    first: Int32Array  # [CHARACTERS], the node of each first character
    edges: UInt64Array  # [a power of two], those of all other nodes; 0 is free
    scores: Float64Array  # [nodes], of the token that ends there; −∞ without one
    ids: Int32Array  # [nodes], of that token


@jit_inline
def slot_of(key: np.uint64, mask: np.uint64) -> np.uint64:
    """The slot in which the search for an edge begins."""
    return ((key * MULTIPLIER) >> HIGH_BITS) & mask


@jit_inline
def child_of(edges: UInt64Array, mask: np.uint64, node: int, character: int) -> int:
    """The node that a character leads to; 0 if there is none."""
    key = np.uint64(node) << CHARACTER_BITS | np.uint64(character)
    slot = slot_of(key, mask)
    while edges[slot] != np.uint64(0):
        if edges[slot] >> NODE_BITS == key:
            return int(np.int64(edges[slot] & NODE_MASK))
        slot = (slot + np.uint64(1)) & mask
    return 0


@jit
def insert_edges(edges: UInt64Array, keys: UInt64Array, nodes: UInt64Array) -> None:
    """Insert edges (node and character) that lead to these nodes; there are enough free slots."""
    mask = np.uint64(len(edges) - 1)
    for i in range(len(keys)):
        slot = slot_of(keys[i], mask)
        while edges[slot] != np.uint64(0):
            slot = (slot + np.uint64(1)) & mask
        edges[slot] = keys[i] << NODE_BITS | nodes[i]


def make_trie(offsets: Int64Array, characters: UInt32Array, scores: Float64Array) -> TokenTrie:
    """The trie of the tokens characters[offsets[i]:offsets[i + 1]], level by level.

    Of equal tokens the last one counts, as in the package tokenizers.
    """
    sizes = np.diff(offsets)
    is_beyond = np.concatenate([[0], np.cumsum(characters >= CHARACTERS)])
    left = np.flatnonzero((sizes > 0) & (np.diff(is_beyond[offsets]) == 0))
    node_of = np.zeros(len(sizes), np.uint64)  # the last node of each token so far
    keys, count = [np.empty(0, np.uint64)], 1
    for depth in range(int(sizes[left].max(initial=0))):
        left = left[sizes[left] > depth]
        letters = characters[offsets[left] + depth].astype(np.uint64)
        edges, which = np.unique(node_of[left] << CHARACTER_BITS | letters, return_inverse=True)
        node_of[left] = (count + which).astype(np.uint64)
        keys.append(edges)
        count += len(edges)
    require(count <= MAX_NODES, f"the tokens have {count:,} prefixes, more than {MAX_NODES:,}")
    return _trie(np.concatenate(keys), node_of, scores)


def _trie(keys: UInt64Array, node_of: UInt64Array, scores: Float64Array) -> TokenTrie:
    """The tables of edges to the nodes from 1 on, and of tokens by their last node."""
    nodes = np.arange(1, len(keys) + 1, dtype=np.uint64)
    is_first = keys < CHARACTERS  # from the root, which is 0
    first = np.zeros(CHARACTERS, np.int32)
    first[keys[is_first]] = nodes[is_first]
    edges = np.zeros(1 << (2 * len(keys) + 1).bit_length(), np.uint64)
    insert_edges(edges, readonly_view(keys[~is_first]), readonly_view(nodes[~is_first]))
    best, ids = np.full(len(keys) + 1, -np.inf), np.zeros(len(keys) + 1, np.int32)
    tokens = np.flatnonzero(node_of)
    best[node_of[tokens]], ids[node_of[tokens]] = scores[tokens], tokens
    return TokenTrie(first, edges, best, ids)
