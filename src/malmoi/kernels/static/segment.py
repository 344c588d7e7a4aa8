"""Splits texts into words, and words into the tokens of a unigram model (Viterbi algorithm).

A word begins with `word_start`; each punctuation mark is a word. Of all ways to write a word as
tokens, the one with the largest sum of scores is chosen; among equal sums the token that begins
first. A character without a token has a score below all tokens and becomes its bytes in UTF-8.
Texts with an UNUSUAL character are left to others: what becomes of it depends on its neighbours.

Scores are added two at a time: there is no sum that a compiler could reorder.
"""

from typing import NamedTuple

import numpy as np

from malmoi.arrays import BoolArray, Float64Array, Int32Array, Int64Array, UInt32Array
from malmoi.kernels.core.checks import ArrayOf, Offsets, check_each, require
from malmoi.kernels.core.jit import jit_norefcount, readonly_view
from malmoi.kernels.static.token_trie import CHARACTERS, TokenTrie, child_of

UNUSUAL, LETTER, PUNCTUATION, SPACE = range(4)  # kinds of characters
KIND_BITS = 17  # the kind is above the character that it is replaced by
MAX_TOKENS = 8  # of a character: its bytes, and those of `word_start`


class UnigramModel(NamedTuple):
    """What does not depend on the texts."""

    trie: TokenTrie
    characters: UInt32Array  # [CHARACTERS], kind and lower-case character
    byte_ids: Int32Array  # [256], the token of each byte
    word_start: int
    unknown_score: float  # of a character without a token


class Paths(NamedTuple):
    """The best path to each position of a word: its score, last token's start and node."""

    word: UInt32Array  # [positions], the characters
    scores: Float64Array
    starts: Int64Array
    nodes: Int32Array  # 0 for a character without a token


def segment_texts(
    offsets: Int64Array, codes: UInt32Array, model: UnigramModel
) -> tuple[Int64Array, Int32Array, BoolArray]:
    """The offsets and ids of the tokens of the texts codes[offsets[t]:offsets[t + 1]].

    Also says which texts have an unusual character; those get no tokens.
    """
    checks = [
        ("offsets", offsets, Offsets("texts", into="codes")),
        ("codes", codes, ArrayOf(np.uint32, "codes")),
        ("characters", model.characters, ArrayOf(np.uint32, CHARACTERS)),
        ("byte_ids", model.byte_ids, ArrayOf(np.int32, 256)),
    ]
    check_each(checks, {})
    require(0 <= model.word_start < CHARACTERS, f"word_start is {model.word_start}")
    positions = int(np.diff(offsets).max(initial=0)) + 2
    paths = Paths(
        np.empty(positions, np.uint32),
        np.zeros(positions),
        np.empty(positions, np.int64),
        np.empty(positions, np.int32),
    )
    ids = np.empty(MAX_TOKENS * len(codes), np.int32)
    ends, is_unusual = np.zeros(len(offsets), np.int64), np.zeros(len(offsets) - 1, np.bool_)
    segment(readonly_view(offsets), readonly_view(codes), model, paths, ids, ends, is_unusual)
    return ends, ids[: ends[-1]].copy(), is_unusual


@jit_norefcount
def segment(
    offsets: Int64Array,
    codes: UInt32Array,
    model: UnigramModel,
    paths: Paths,
    ids: Int32Array,
    ends: Int64Array,
    is_unusual: BoolArray,
) -> None:
    """Segment all texts; `ends[t + 1]` is where the tokens of text t end."""
    at, word = 0, paths.word
    word[0] = model.word_start
    for text in range(len(offsets) - 1):
        size = 1  # of the word, with `word_start`
        for i in range(offsets[text], offsets[text + 1]):
            character = model.characters[min(codes[i], np.uint32(CHARACTERS - 1))]
            kind = character >> KIND_BITS
            if kind == LETTER:
                word[size] = character & np.uint32(CHARACTERS - 1)
                size += 1
                continue
            if size > 1:
                at = segment_word(size, model, paths, ids, at)
                size = 1
            if kind == PUNCTUATION:
                word[1] = character & np.uint32(CHARACTERS - 1)
                at = segment_word(2, model, paths, ids, at)
            elif kind == UNUSUAL:
                is_unusual[text] = True
                break
        if is_unusual[text]:
            at = ends[text]
        elif size > 1:
            at = segment_word(size, model, paths, ids, at)
        ends[text + 1] = at


@jit_norefcount
def segment_word(size: int, model: UnigramModel, paths: Paths, ids: Int32Array, at: int) -> int:
    """Write the tokens of the word paths.word[:size] from `at` on; returns where they end."""
    word, scores, starts, nodes = paths.word, paths.scores, paths.starts, paths.nodes
    trie = model.trie
    mask = np.uint64(len(trie.edges) - 1)
    for position in range(1, size + 1):
        starts[position] = -1
    for start in range(size):
        stop, node, is_known = start, trie.first[word[start]], False
        while node:
            stop += 1
            score = trie.scores[node]
            if score > -np.inf:
                is_known |= stop == start + 1
                score += scores[start]
                if starts[stop] < 0 or score > scores[stop]:
                    scores[stop], starts[stop], nodes[stop] = score, start, node
            if stop == size:
                break
            node = child_of(trie.edges, mask, node, word[stop])
        if not is_known:
            stop, score = start + 1, scores[start] + model.unknown_score
            if starts[stop] < 0 or score > scores[stop]:
                scores[stop], starts[stop], nodes[stop] = score, start, 0
    return write_tokens(size, model, paths, ids, at)


@jit_norefcount
def write_tokens(size: int, model: UnigramModel, paths: Paths, ids: Int32Array, at: int) -> int:
    """Follow the best path back from the end of the word, and write its tokens in order."""
    word, starts, nodes = paths.word, paths.starts, paths.nodes
    count, position = 0, size
    while position > 0:
        count += 1 if nodes[position] else utf8_size(word[starts[position]])
        position = starts[position]
    end, position = at + count, size
    at = end
    while position > 0:
        start = starts[position]
        if nodes[position]:
            at -= 1
            ids[at] = model.trie.ids[nodes[position]]
        else:
            at -= utf8_size(word[start])
            write_bytes(word[start], model.byte_ids, ids, at)
        position = start
    return end


@jit_norefcount
def utf8_size(character: int) -> int:
    """The number of bytes of a character in UTF-8."""
    return 1 if character < 0x80 else 2 if character < 0x800 else 3 if character < 0x10000 else 4


@jit_norefcount
def write_bytes(character: int, byte_ids: Int32Array, ids: Int32Array, at: int) -> None:
    """Write the tokens of a character's bytes in UTF-8."""
    code, size = int(np.int64(character)), utf8_size(character)
    for i in range(size - 1, 0, -1):
        ids[at + i] = byte_ids[0x80 | code & 0x3F]
        code >>= 6
    lead = 0 if size == 1 else (0xF00 >> size) & 0xFF  # as many ones as there are bytes
    ids[at] = byte_ids[lead | code]
