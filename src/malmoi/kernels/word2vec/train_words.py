"""Word vectors from a stream of words: skip-gram and CBOW, with or without subwords.

A line's words are brought together first: one hidden row for each different word, the mean of
its input rows. Windows move these; then every input row takes on what its words' have moved.
With one input row a word, that is word2vec; with rows for n-grams too, fastText. CBOW does so
little with a row that this pays only for n-grams: else windows move the input rows themselves.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.arrays import (
    Float32Array,
    Float64Array,
    Int32Array,
    Int64Array,
    UInt32Array,
    UInt64Array,
)
from malmoi.kernels.core.jit import jit_inline, jit_norefcount
from malmoi.kernels.core.llvm import has_feature
from malmoi.kernels.core.prefetch import prefetch_row
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.kernels.word2vec import means, rows, tiles
from malmoi.kernels.word2vec import simd_means as vector_means
from malmoi.kernels.word2vec import simd_rows as vector_rows
from malmoi.kernels.word2vec import simd_tiles as vector_tiles
from malmoi.kernels.word2vec.random import CERTAIN, below, draw, random_bits
from malmoi.kernels.word2vec.tiles import LANES, TILE, tile_loss

is_wide = has_feature("avx2")
best_tiles, best_means = (vector_tiles, vector_means) if is_wide else (tiles, means)
best_rows = vector_rows if is_wide else rows
score_tile, step_tile, move_tile = (
    best_tiles.score_tile,
    best_tiles.step_tile,
    best_tiles.move_tile,
)
score_mean, move_targets = best_means.score_mean, best_means.move_targets
mean_of_rows, weighted_mean, move_rows = (
    best_rows.mean_of_rows,
    best_rows.weighted_mean,
    best_rows.move_rows,
)

SENTENCE = 1024  # words of a line that are looked at together; word2vec has 1,000


class WordNetwork(NamedTuple):
    """Rows padded to whole vectors; input rows of words, then of n-grams."""

    inputs: Float32Array
    outputs: Float32Array


class Words(NamedTuple):
    """What is known of each word.

    Word w stays in its line with `keep[w]` / 2³² (subsampling). Its input rows are
    `rows[starts[w] : starts[w + 1]]`. These move by `moves[w]` times what the word does: 1, less
    if a row is there several times (so it moves as often), 0 if the word is to stay.
    """

    keep: UInt32Array
    starts: Int64Array
    rows: Int32Array
    moves: npt.NDArray[np.float32]


class Targets(NamedTuple):
    """What a word is told from: negatives drawn by weight, or else the turns of its path.

    Without a `table`, word w is the end of a path in a Huffman tree: its inner nodes are
    `nodes[starts[w] : starts[w + 1]]`, where it turns to `codes`.
    """

    negatives: int
    table: UInt32Array
    starts: Int64Array
    nodes: Int32Array
    codes: npt.NDArray[np.uint8]


class Plan(NamedTuple):
    """How far a window reaches, which way it is read, and the learning rate.

    Where every word has one input row, of its number, windows can move it `directly`. The rate
    falls from `rate` by `fall` with each word of the stream, seen or not. One of `watched`
    windows is asked for its loss, which takes as long as learning it.
    """

    skipgram: bool
    directly: bool
    window: int
    shrinking: bool
    rate: float
    fall: float
    watched: int


class Workspace(NamedTuple):
    """Room for one thread to work in; `slots` is −1 everywhere."""

    slots: Int32Array  # [words] of each word in the line, its hidden row
    different: Int32Array  # [SENTENCE] the word of each hidden row
    line: Int32Array  # [SENTENCE] words
    places: Int32Array  # [SENTENCE] hidden rows
    hidden: Float32Array  # [SENTENCE, width]
    before: Float32Array  # [SENTENCE, width]
    contexts: Int32Array  # [2 · window] hidden rows of a window
    shares: Float32Array  # [2 · window] how many input rows each of these is the mean of
    mean: Float32Array  # [width] of a window
    targets: Int32Array  # [2, most targets] of this window and of the next
    goals: Float32Array  # [2, most targets]
    weights: Float32Array  # [2, most targets]
    scores: Float32Array  # [2 · window, LANES]
    moves: Float32Array  # [TILE, width]


@jit_norefcount
def train_words(
    ids: UInt32Array,
    first: int,
    last: int,
    words: Words,
    network: WordNetwork,
    targets: Targets,
    plan: Plan,
    state: UInt64Array,
    room: Workspace,
    result: Float64Array,
) -> None:
    """Learn from `ids[first:last]`; `result` is set at the end: a loss, and of how many pairs.

    It is that of the windows that are watched, of six targets at a time before these are learnt.
    """
    inputs, outputs, scores, moves = network.inputs, network.outputs, room.scores, room.moves
    hidden, mean, move = inputs if plan.directly else room.hidden, room.mean, moves[0]
    at, loss, pairs, windows = first, 0.0, 0, 0
    while at < last:
        rate = np.float32(plan.rate - plan.fall * (at - first))
        at, length, different = read_line(ids, at, last, words, inputs, plan, state, room)
        if length > 1:
            gather(words, inputs, different, room)
            coming = choose_targets(room.line[0], 0, targets, state, room)
            for centre in range(length):
                now, chosen = centre & 1, coming
                if centre + 1 < length:  # while this window is worked on, the next one's rows come
                    coming = choose_targets(room.line[centre + 1], 1 - now, targets, state, room)
                contexts = room.contexts[: find_contexts(centre, length, plan, state, room)]
                count = len(contexts) if plan.skipgram else 1
                if not plan.skipgram:
                    take_mean(hidden, contexts, words, plan, room)
                    for k in range(len(move)):
                        move[k] = 0
                for group in range(0, chosen, TILE):
                    these = room.targets[now, group : group + LANES]
                    those = room.targets[1 - now, group : group + LANES]
                    goals = room.goals[now, group : group + LANES]
                    weights = room.weights[now, group : group + LANES]
                    if plan.skipgram:
                        score_tile(hidden, contexts, outputs, these, scores)
                    else:
                        score_mean(mean, outputs, these, scores)
                    if windows % plan.watched == 0:
                        loss += tile_loss(scores, count, goals, weights)
                        pairs += count if group == 0 else 0
                    step_tile(scores, count, goals, weights, rate)
                    if plan.skipgram:
                        move_tile(hidden, contexts, outputs, these, those, scores, moves)
                    else:
                        move_targets(mean, outputs, these, those, scores, move)
                if not plan.skipgram:
                    move_rows(hidden, contexts, move)
                windows += 1
            scatter(words, inputs, different, room)
        for slot in range(different):
            room.slots[room.different[slot]] = -1
    result[1] = pairs
    result[0] = loss


@jit_inline
def read_line(
    ids: UInt32Array,
    at: int,
    last: int,
    words: Words,
    inputs: Float32Array,
    plan: Plan,
    state: UInt64Array,
    room: Workspace,
) -> tuple[int, int, int]:
    """The next line's words that stay: where it ends, how many there are, how many hidden rows."""
    length = different = 0
    while at < last and length < SENTENCE:
        word = np.int64(ids[at])
        at += 1
        if word == LINE_END:
            break
        if word == UNKNOWN:
            continue
        if words.keep[word] < CERTAIN and random_bits(state) >> np.uint64(32) >= words.keep[word]:
            continue
        room.line[length] = room.places[length] = word
        if plan.directly:
            prefetch_row(inputs, int(word))
        else:
            if room.slots[word] < 0:
                room.slots[word] = different
                room.different[different] = word
                different += 1
                for i in range(words.starts[word], words.starts[word + 1]):
                    prefetch_row(inputs, words.rows[i])
            room.places[length] = room.slots[word]
        length += 1
    return at, length, different


@jit_inline
def gather(words: Words, inputs: Float32Array, different: int, room: Workspace) -> None:
    """The hidden row of each different word: the mean of its input rows."""
    for slot in range(different):
        word, hidden, before = room.different[slot], room.hidden[slot], room.before[slot]
        mean_of_rows(inputs, words.rows[words.starts[word] : words.starts[word + 1]], hidden)
        for k in range(len(hidden)):
            before[k] = hidden[k]


@jit_inline
def scatter(words: Words, inputs: Float32Array, different: int, room: Workspace) -> None:
    """Every input row of a word takes on what the word's hidden row has moved."""
    for slot in range(different):
        word, hidden, moved = room.different[slot], room.hidden[slot], room.before[slot]
        if words.moves[word] > 0:
            for k in range(len(hidden)):
                moved[k] = words.moves[word] * (hidden[k] - moved[k])
            move_rows(inputs, words.rows[words.starts[word] : words.starts[word + 1]], moved)


@jit_inline
def choose_targets(
    word: int, now: int, targets: Targets, state: UInt64Array, room: Workspace
) -> int:
    """The outputs that a word is told by, with goals and weights; how many there are."""
    chosen, goals, weights = room.targets[now], room.goals[now], room.weights[now]
    if len(targets.table) > 0:
        count = 1 + targets.negatives
        chosen[0], goals[0], weights[0] = word, 1, 1
        for i in range(1, count):
            other = draw(state, targets.table)
            chosen[i], goals[i], weights[i] = other, 0, other != word
    else:
        start = targets.starts[word]
        count = targets.starts[word + 1] - start
        for i in range(count):
            chosen[i], weights[i] = targets.nodes[start + i], 1
            goals[i] = 1 - targets.codes[start + i]
    for i in range(count, count + TILE - 1):  # the last tile is filled with no other thread's row
        chosen[i], goals[i], weights[i] = chosen[count - 1], 0, 0
    return count


@jit_inline
def find_contexts(centre: int, length: int, plan: Plan, state: UInt64Array, room: Workspace) -> int:
    """The hidden rows of the words around one; how many there are."""
    reach = 1 + below(state, plan.window) if plan.shrinking else plan.window
    around = 0
    for place in range(max(0, centre - reach), min(length, centre + reach + 1)):
        if place != centre:
            room.contexts[around] = room.places[place]
            around += 1
    return around


@jit_inline
def take_mean(
    hidden: Float32Array, contexts: Int32Array, words: Words, plan: Plan, room: Workspace
) -> None:
    """The mean of a window: of all input rows of its words, as in fastText.

    A hidden row is a mean itself, and counts as often as it has input rows.
    """
    if plan.directly:
        mean_of_rows(hidden, contexts, room.mean)
    else:
        for i in range(len(contexts)):
            word = room.different[contexts[i]]
            room.shares[i] = words.starts[word + 1] - words.starts[word]
        weighted_mean(hidden, contexts, room.shares, room.mean)
