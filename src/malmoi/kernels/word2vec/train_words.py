"""Word vectors from a stream of words: skip-gram and CBOW, with or without subwords.

The kernel gathers a line's words first: one hidden row per distinct word, the mean of its input
rows. Windows update the hidden rows; then every input row gets the update of its word. With one
input row per word, that is word2vec; with rows for n-grams too, fastText. CBOW does so little
work per row that gathering pays only with n-grams: otherwise windows update the input rows.
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
from malmoi.kernels.word2vec import means, rows, simd_means, simd_rows, simd_tiles, tiles
from malmoi.kernels.word2vec.random import PROBABILITY_ONE, below, draw, random_bits
from malmoi.kernels.word2vec.tiles import LANES, TILE, tile_loss

is_wide = has_feature("avx2")
best_tiles, best_means = (simd_tiles, simd_means) if is_wide else (tiles, means)
best_rows = simd_rows if is_wide else rows
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

MAX_SENTENCE_WORDS = 1024  # longer lines are split; word2vec.c splits at 1,000


class WordNetwork(NamedTuple):
    """Rows padded to whole SIMD vectors; input rows of words, then of n-grams."""

    inputs: Float32Array
    outputs: Float32Array


class Words(NamedTuple):
    """The input side of each word.

    Subsampling keeps word w with probability `keep[w]` / 2³². Its input rows are
    `rows[starts[w] : starts[w + 1]]`. They get `moves[w]` times the update of the word: 1, less
    if a row is listed several times (and so updated several times), 0 if the word is frozen.
    """

    keep: UInt32Array
    starts: Int64Array
    rows: Int32Array
    moves: npt.NDArray[np.float32]


class Targets(NamedTuple):
    """The output side: negative sampling or hierarchical softmax.

    `table` is the alias table of negative samples. If it is empty, word w is a leaf of a Huffman
    tree: the inner nodes of its path are `nodes[starts[w] : starts[w + 1]]`, its code `codes`.
    """

    negative_samples: int
    table: UInt32Array
    starts: Int64Array
    nodes: Int32Array
    codes: npt.NDArray[np.uint8]


class Plan(NamedTuple):
    """The settings of one chunk.

    If every word has one input row, of its own number, windows can update it directly
    (`is_direct`). The learning rate falls by `decay` with each token of the stream. The kernel
    computes the loss of one in `loss_interval` windows, which costs as much as training it.
    """

    skipgram: bool
    is_direct: bool
    window: int
    shrink_windows: bool
    learning_rate: float
    decay: float
    loss_interval: int


class Workspace(NamedTuple):
    """Buffers of one thread; `slots` is −1 everywhere between calls."""

    slots: Int32Array  # [words] the hidden row of each word in the line
    distinct: Int32Array  # [MAX_SENTENCE_WORDS] the word of each hidden row
    line: Int32Array  # [MAX_SENTENCE_WORDS] its words
    hidden_rows: Int32Array  # [MAX_SENTENCE_WORDS] of each word in the line
    hidden: Float32Array  # [MAX_SENTENCE_WORDS, width]
    before: Float32Array  # [MAX_SENTENCE_WORDS, width] the hidden rows before the line
    contexts: Int32Array  # [2 · window] hidden rows of a window
    row_counts: Float32Array  # [2 · window] the number of input rows of each context
    mean: Float32Array  # [width] of a window
    targets: Int32Array  # [2, max targets] of this window and of the next
    labels: Float32Array  # [2, max targets]
    weights: Float32Array  # [2, max targets]
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
    workspace: Workspace,
    result: Float64Array,
) -> None:
    """Train on `ids[first:last]`; writes the loss and its number of pairs to `result` at the end.

    The loss is that of one in `loss_interval` windows, before the update of each tile.
    """
    inputs, outputs, scores, moves = (
        network.inputs,
        network.outputs,
        workspace.scores,
        workspace.moves,
    )
    hidden, mean, move = inputs if plan.is_direct else workspace.hidden, workspace.mean, moves[0]
    at, loss, pairs, windows = first, 0.0, 0, 0
    while at < last:
        rate = np.float32(plan.learning_rate - plan.decay * (at - first))
        at, length, distinct = read_line(ids, at, last, words, inputs, plan, state, workspace)
        if length > 1:
            gather(words, inputs, distinct, workspace)
            next_count = choose_targets(workspace.line[0], 0, targets, state, workspace)
            for centre in range(length):
                now, chosen = centre & 1, next_count
                if centre + 1 < length:  # prefetch the next window's rows while this one is trained
                    next_count = choose_targets(
                        workspace.line[centre + 1], 1 - now, targets, state, workspace
                    )
                contexts = workspace.contexts[
                    : find_contexts(centre, length, plan, state, workspace)
                ]
                count = len(contexts) if plan.skipgram else 1
                if not plan.skipgram:
                    window_mean(hidden, contexts, words, plan, workspace)
                    for k in range(len(move)):
                        move[k] = 0
                for group in range(0, chosen, TILE):
                    these = workspace.targets[now, group : group + LANES]
                    following = workspace.targets[1 - now, group : group + LANES]
                    labels = workspace.labels[now, group : group + LANES]
                    weights = workspace.weights[now, group : group + LANES]
                    if plan.skipgram:
                        score_tile(hidden, contexts, outputs, these, scores)
                    else:
                        score_mean(mean, outputs, these, scores)
                    if windows % plan.loss_interval == 0:
                        loss += tile_loss(scores, count, labels, weights)
                        pairs += count if group == 0 else 0
                    step_tile(scores, count, labels, weights, rate)
                    if plan.skipgram:
                        move_tile(hidden, contexts, outputs, these, following, scores, moves)
                    else:
                        move_targets(mean, outputs, these, following, scores, move)
                if not plan.skipgram:
                    move_rows(hidden, contexts, move)
                windows += 1
            scatter(words, inputs, distinct, workspace)
        for slot in range(distinct):
            workspace.slots[workspace.distinct[slot]] = -1
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
    workspace: Workspace,
) -> tuple[int, int, int]:
    """Read and subsample a line; returns (its end, number of words, number of hidden rows)."""
    length = distinct = 0
    while at < last and length < MAX_SENTENCE_WORDS:
        word = np.int64(ids[at])
        at += 1
        if word == LINE_END:
            break
        if word == UNKNOWN:
            continue
        if (
            words.keep[word] < PROBABILITY_ONE
            and random_bits(state) >> np.uint64(32) >= words.keep[word]
        ):
            continue
        workspace.line[length] = workspace.hidden_rows[length] = word
        if plan.is_direct:
            prefetch_row(inputs, int(word))
        else:
            if workspace.slots[word] < 0:
                workspace.slots[word] = distinct
                workspace.distinct[distinct] = word
                distinct += 1
                for i in range(words.starts[word], words.starts[word + 1]):
                    prefetch_row(inputs, words.rows[i])
            workspace.hidden_rows[length] = workspace.slots[word]
        length += 1
    return at, length, distinct


@jit_inline
def gather(words: Words, inputs: Float32Array, distinct: int, workspace: Workspace) -> None:
    """Set the hidden row of each distinct word: the mean of its input rows."""
    for slot in range(distinct):
        word, hidden, before = (
            workspace.distinct[slot],
            workspace.hidden[slot],
            workspace.before[slot],
        )
        mean_of_rows(inputs, words.rows[words.starts[word] : words.starts[word + 1]], hidden)
        for k in range(len(hidden)):
            before[k] = hidden[k]


@jit_inline
def scatter(words: Words, inputs: Float32Array, distinct: int, workspace: Workspace) -> None:
    """Add the change of each hidden row to the input rows of its word."""
    for slot in range(distinct):
        word, hidden, moved = (
            workspace.distinct[slot],
            workspace.hidden[slot],
            workspace.before[slot],
        )
        if words.moves[word] > 0:
            for k in range(len(hidden)):
                moved[k] = words.moves[word] * (hidden[k] - moved[k])
            move_rows(inputs, words.rows[words.starts[word] : words.starts[word + 1]], moved)


@jit_inline
def choose_targets(
    word: int, now: int, targets: Targets, state: UInt64Array, workspace: Workspace
) -> int:
    """Set the output rows that predict a word, with labels and weights; returns their number."""
    chosen, labels, weights = workspace.targets[now], workspace.labels[now], workspace.weights[now]
    if len(targets.table) > 0:
        count = 1 + targets.negative_samples
        chosen[0], labels[0], weights[0] = word, 1, 1
        for i in range(1, count):
            other = draw(state, targets.table)
            chosen[i], labels[i], weights[i] = other, 0, other != word
    else:
        start = targets.starts[word]
        count = targets.starts[word + 1] - start
        for i in range(count):
            chosen[i], weights[i] = targets.nodes[start + i], 1
            labels[i] = 1 - targets.codes[start + i]
    for i in range(
        count, count + TILE - 1
    ):  # pad the last tile, without sharing another thread's row
        chosen[i], labels[i], weights[i] = chosen[count - 1], 0, 0
    return count


@jit_inline
def find_contexts(
    centre: int, length: int, plan: Plan, state: UInt64Array, workspace: Workspace
) -> int:
    """Set the hidden rows of the context words; returns their number."""
    reach = 1 + below(state, plan.window) if plan.shrink_windows else plan.window
    count = 0
    for position in range(max(0, centre - reach), min(length, centre + reach + 1)):
        if position != centre:
            workspace.contexts[count] = workspace.hidden_rows[position]
            count += 1
    return count


@jit_inline
def window_mean(
    hidden: Float32Array, contexts: Int32Array, words: Words, plan: Plan, workspace: Workspace
) -> None:
    """Set the mean of all input rows of a window's words, as in fastText.

    A hidden row is already a mean, so its weight is its number of input rows.
    """
    if plan.is_direct:
        mean_of_rows(hidden, contexts, workspace.mean)
    else:
        for i in range(len(contexts)):
            word = workspace.distinct[contexts[i]]
            workspace.row_counts[i] = words.starts[word + 1] - words.starts[word]
        weighted_mean(hidden, contexts, workspace.row_counts, workspace.mean)
