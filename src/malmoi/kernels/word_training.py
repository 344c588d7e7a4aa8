"""Word vectors from a stream of words: skip-gram and CBOW, with or without subwords.

A line's words are brought together first: one hidden row for each different word, the mean of
its input rows. Windows move these; then every input row takes on what its words' have moved.
With one input row a word, that is word2vec; with rows for n-grams too, fastText.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.kernels import rows, tiles, vector_rows, vector_tiles
from malmoi.kernels.chance import CERTAIN, Chances, State, below, draw, random_bits
from malmoi.kernels.compiled import inlined, uncounted
from malmoi.kernels.cooccurrence import Sums
from malmoi.kernels.emitting import has
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.kernels.prefetch import prefetch_row
from malmoi.kernels.text_rows import Matrix, Places
from malmoi.kernels.tiles import LANES, TILE, Rows, tile_loss
from malmoi.kernels.words import Ids

best_tiles, best_rows = (vector_tiles, vector_rows) if has("avx2") else (tiles, rows)
score_tile, step_tile = best_tiles.score_tile, best_tiles.step_tile
move_tile, move_rows, mean_of_rows = (
    best_tiles.move_tile,
    best_rows.move_rows,
    best_rows.mean_of_rows,
)

SENTENCE = 1024  # words of a line that are looked at together; word2vec has 1,000


class Network(NamedTuple):
    """Rows padded to whole vectors; input rows of words, then of n-grams."""

    inputs: Matrix
    outputs: Matrix


class Words(NamedTuple):
    """What is known of each word.

    Word w stays in its line with `keep[w]` / 2³² (subsampling). Its input rows are
    `rows[starts[w] : starts[w + 1]]`. These move by `moves[w]` times what the word does: 1, less
    if a row is there several times (so it moves as often), 0 if the word is to stay.
    """

    keep: Chances
    starts: Places
    rows: Rows
    moves: npt.NDArray[np.float32]


class Targets(NamedTuple):
    """What a word is told from: negatives drawn by weight, or else the turns of its path.

    Without a `table`, word w is the end of a path in a Huffman tree: its inner nodes are
    `nodes[starts[w] : starts[w + 1]]`, where it turns to `codes`.
    """

    negatives: int
    table: Chances
    starts: Places
    nodes: Rows
    codes: npt.NDArray[np.uint8]


class Plan(NamedTuple):
    """How far a window reaches, which way it is read, and the learning rate.

    The rate falls from `rate` by `fall` with each word of the stream, seen or not. One of
    `watched` windows is asked for its loss, which takes as long as learning it.
    """

    skipgram: bool
    window: int
    shrinking: bool
    rate: float
    fall: float
    watched: int


class Room(NamedTuple):
    """Room for one thread to work in; `slots` is −1 everywhere."""

    slots: Rows  # [words] of each word in the line, its hidden row
    different: Rows  # [SENTENCE] the word of each hidden row
    line: Rows  # [SENTENCE] words
    places: Rows  # [SENTENCE] hidden rows
    hidden: Matrix  # [SENTENCE + 1, width]; the last is the mean of a window
    before: Matrix  # [SENTENCE + 1, width]
    contexts: Rows  # [2 · window + 1] hidden rows of a window
    targets: Rows  # [2, most targets] of this window and of the next
    goals: Matrix  # [2, most targets]
    weights: Matrix  # [2, most targets]
    scores: Matrix  # [2 · window, LANES]
    moves: Matrix  # [TILE, width]


@uncounted
def train_words(
    ids: Ids,
    first: int,
    last: int,
    words: Words,
    network: Network,
    targets: Targets,
    plan: Plan,
    state: State,
    room: Room,
    result: Sums,
) -> None:
    """Learn from `ids[first:last]`; `result` is set at the end: a loss, and of how many pairs.

    It is that of the windows that are watched, before they are learnt.
    """
    hidden, outputs, contexts, scores = room.hidden, network.outputs, room.contexts, room.scores
    inputs = contexts if plan.skipgram else contexts[2 * plan.window :]
    at, loss, pairs, windows = first, 0.0, 0, 0
    while at < last:
        rate = np.float32(plan.rate - plan.fall * (at - first))
        at, length, different = read_line(ids, at, last, words, network.inputs, state, room)
        if length > 1:
            gather(words, network.inputs, different, room)
            coming = choose_targets(room.line[0], 0, targets, outputs, state, room)
            for centre in range(length):
                now, chosen = centre & 1, coming
                if centre + 1 < length:  # while this window is worked on, the next one's rows come
                    following = room.line[centre + 1]
                    coming = choose_targets(following, 1 - now, targets, outputs, state, room)
                around = find_contexts(centre, length, plan, state, room)
                count = around
                if not plan.skipgram:
                    average(hidden, room.before, contexts[:around])
                    count = 1
                for group in range(0, chosen, TILE):
                    these = room.targets[now, group : group + LANES]
                    goals = room.goals[now, group : group + LANES]
                    weights = room.weights[now, group : group + LANES]
                    score_tile(hidden, inputs, count, outputs, these, scores)
                    if windows % plan.watched == 0:
                        loss += tile_loss(scores, count, goals, weights)
                        pairs += count if group == 0 else 0
                    step_tile(scores, count, goals, weights, rate)
                    move_tile(hidden, inputs, count, outputs, these, scores, room.moves)
                if not plan.skipgram:
                    spread(hidden, room.before, contexts[:around])
                windows += 1
            scatter(words, network.inputs, different, room)
        for slot in range(different):
            room.slots[room.different[slot]] = -1
    result[1] = pairs
    result[0] = loss


@inlined
def read_line(
    ids: Ids, at: int, last: int, words: Words, inputs: Matrix, state: State, room: Room
) -> tuple[int, int, int]:
    """The next line's words that stay: where it ends, how many there are, how many different."""
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
        slot = room.slots[word]
        if slot < 0:
            slot = room.slots[word] = different
            room.different[different] = word
            different += 1
            for i in range(words.starts[word], words.starts[word + 1]):
                prefetch_row(inputs, words.rows[i])
        room.line[length] = word
        room.places[length] = slot
        length += 1
    return at, length, different


@inlined
def gather(words: Words, inputs: Matrix, different: int, room: Room) -> None:
    """The hidden row of each different word: the mean of its input rows."""
    for slot in range(different):
        word, hidden, before = room.different[slot], room.hidden[slot], room.before[slot]
        mean_of_rows(inputs, words.rows[words.starts[word] : words.starts[word + 1]], hidden)
        for k in range(len(hidden)):
            before[k] = hidden[k]


@inlined
def scatter(words: Words, inputs: Matrix, different: int, room: Room) -> None:
    """Every input row of a word takes on what the word's hidden row has moved."""
    for slot in range(different):
        word, hidden, moved = room.different[slot], room.hidden[slot], room.before[slot]
        if words.moves[word] > 0:
            for k in range(len(hidden)):
                moved[k] = words.moves[word] * (hidden[k] - moved[k])
            move_rows(inputs, words.rows[words.starts[word] : words.starts[word + 1]], moved)


@inlined
def choose_targets(
    word: int, now: int, targets: Targets, outputs: Matrix, state: State, room: Room
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
    for i in range(count, count + TILE - 1):  # the last tile is filled with what has no weight
        chosen[i], goals[i], weights[i] = 0, 0, 0
    for i in range(count):
        prefetch_row(outputs, chosen[i])
    return count


@inlined
def find_contexts(centre: int, length: int, plan: Plan, state: State, room: Room) -> int:
    """The hidden rows of the words around one; how many there are."""
    reach = 1 + below(state, plan.window) if plan.shrinking else plan.window
    around = 0
    for place in range(max(0, centre - reach), min(length, centre + reach + 1)):
        if place != centre:
            room.contexts[around] = room.places[place]
            around += 1
    return around


@inlined
def average(hidden: Matrix, before: Matrix, contexts: Rows) -> None:
    """The last hidden row becomes the mean of those of a window."""
    mean, kept = hidden[SENTENCE], before[SENTENCE]
    mean_of_rows(hidden, contexts, mean)
    for k in range(len(mean)):
        kept[k] = mean[k]


@inlined
def spread(hidden: Matrix, before: Matrix, contexts: Rows) -> None:
    """Every row of a window takes on what its mean has moved, undivided as in word2vec."""
    mean, moved = hidden[SENTENCE], before[SENTENCE]
    for k in range(len(mean)):
        moved[k] = mean[k] - moved[k]
    move_rows(hidden, contexts, moved)
