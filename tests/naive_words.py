"""A slow, obvious twin of the kernel that trains word vectors: Python's own numbers and lists."""

from collections.abc import Callable, Iterator

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.kernels.word2vec.random import seeded
from malmoi.kernels.word2vec.train_words import Plan, Targets, Words

MASK = 2**64 - 1
TILE = 6


def random_bits(seed: int, part: int) -> Callable[[], int]:
    """xorshift64*."""
    state = int(seeded(seed, part)[0])

    def following() -> int:
        nonlocal state
        state ^= state >> 12
        state = (state ^ (state << 25)) & MASK
        state ^= state >> 27
        return (state * 0x2545F4914F6CDD1D) & MASK

    return following


def lines_of(
    ids: list[int], words: Words, bits: Callable[[], int]
) -> Iterator[tuple[int, list[int]]]:
    """Where each line begins, and its words that stay."""
    line: list[int] = []
    start = 0
    for at, word in enumerate(ids):
        if word == LINE_END:
            yield start, line
            line, start = [], at + 1
        elif word != UNKNOWN:
            certain = words.keep[word] == 0xFFFFFFFF
            if certain or (bits() >> 32) < words.keep[word]:
                line.append(word)
    yield start, line


def targets_for(word: int, targets: Targets, bits: Callable[[], int]) -> list[tuple[int, int, int]]:
    """(row, goal, weight) of the targets that predict a word."""
    if len(targets.table):
        samples = [(word, 1, 1)]
        for _ in range(targets.negative_samples):
            drawn = bits()
            index = (drawn >> 32) * len(targets.table) >> 32
            if (drawn & 0xFFFFFFFF) > targets.table[index, 0]:
                index = int(targets.table[index, 1])
            samples.append((index, 0, int(index != word)))
        return samples
    path = slice(targets.starts[word], targets.starts[word + 1])
    turns = zip(targets.nodes[path], targets.codes[path], strict=True)
    return [(int(node), 1 - int(code), 1) for node, code in turns]


def train(
    ids: list[int],
    words: Words,
    inputs: Float64Array,
    outputs: Float64Array,
    targets: Targets,
    plan: Plan,
    seed: int,
    part: int,
) -> tuple[float, int]:
    """Learn the ids; both sides change in index. Returns the loss and its pairs."""
    bits = random_bits(seed, part)
    loss, pairs, windows = 0.0, 0, 0
    for start, line in lines_of(ids, words, bits):
        if len(line) < 2:
            continue
        rate = plan.learning_rate - plan.decay * start
        rows = {word: words.rows[words.starts[word] : words.starts[word + 1]] for word in set(line)}
        hidden = {word: inputs[rows[word]].mean(axis=0) for word in rows}
        before = {word: row.copy() for word, row in hidden.items()}
        coming = targets_for(line[0], targets, bits)
        for centre in range(len(line)):
            chosen = coming
            if centre + 1 < len(line):
                coming = targets_for(line[centre + 1], targets, bits)
            reach = 1 + ((bits() >> 32) * plan.window >> 32) if plan.shrink_windows else plan.window
            near = range(max(0, centre - reach), min(len(line), centre + reach + 1))
            contexts = [line[index] for index in near if index != centre]
            if plan.skipgram:
                window = [hidden[word] for word in contexts]
                lost = learn(window, outputs, chosen, rate)
            else:
                sizes = [len(rows[word]) for word in contexts]  # all input rows count alike
                mean = np.average([hidden[word] for word in contexts], axis=0, weights=sizes)
                move, lost = learn_mean(mean, outputs, chosen, rate)
                for word in contexts:
                    hidden[word] += move
            if windows % plan.loss_interval == 0:
                loss, pairs = loss + lost, pairs + (len(contexts) if plan.skipgram else 1)
            windows += 1
        for word in rows:
            for row in rows[word]:
                inputs[row] += words.moves[word] * (hidden[word] - before[word])
    return loss, pairs


def learn(
    window: list[Float64Array],
    outputs: Float64Array,
    chosen: list[tuple[int, int, int]],
    rate: float,
) -> float:
    """All pairs of a window and six targets at a time: every score is of what they were."""
    loss = 0.0
    for first in range(0, len(chosen), TILE):
        tile = chosen[first : first + TILE]
        old = [outputs[target].copy() for target, _, _ in tile]
        scores = [[row @ output for output in old] for row in window]
        for row, row_scores in zip(window, scores, strict=True):
            for (_, goal, weight), score in zip(tile, row_scores, strict=True):
                loss += weight * np.logaddexp(0, -score if goal else score)
            steps = [
                rate * weight * (goal - 1 / (1 + np.exp(-score)))
                for (_, goal, weight), score in zip(tile, row_scores, strict=True)
            ]
            for (target, _, _), step in zip(tile, steps, strict=True):
                outputs[target] += step * row
            row += sum(step * output for step, output in zip(steps, old, strict=True))
    return float(loss)


def learn_mean(
    mean: Float64Array, outputs: Float64Array, chosen: list[tuple[int, int, int]], rate: float
) -> tuple[Float64Array, float]:
    """One window of CBOW as in word2vec.c: what each of its words moves by, and the loss.

    There `mean` is neu1, and `move` neu1e. Six targets are scored before they move, not one.
    """
    move, loss = np.zeros_like(mean), 0.0
    for first in range(0, len(chosen), TILE):
        tile = chosen[first : first + TILE]
        old = [outputs[target].copy() for target, _, _ in tile]
        for (target, goal, weight), output in zip(tile, old, strict=True):
            score = mean @ output
            loss += weight * np.logaddexp(0, -score if goal else score)
            step = rate * weight * (goal - 1 / (1 + np.exp(-score)))
            move += step * output
            outputs[target] += step * mean
    return move, float(loss)
