"""The network of ELMo in NumPy: ready at once, and on every machine.

The equations are those of the paper's reference implementation; `CompiledNetwork` computes the
same with kernels.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.checkpoint.elmo_options import ElmoConfig
from malmoi.encode.checkpoint.elmo_weights import DenseWeights, ElmoWeights
from malmoi.encode.elmo.word_vectors import word_lengths
from malmoi.encode.pooling.groups import group_bounds

BLOCK_ROWS = 256  # tokens whose inputs are multiplied together


class LstmState(NamedTuple):
    """What an LSTM remembers of each text: its last output and its cells."""

    output: Float32Array  # [texts, projection]
    cells: Float32Array  # [texts, cells]


class ElmoNetwork(Protocol):
    """The two parts of the network: words to vectors, and an LSTM over vectors."""

    def words(self, ids: Int64Array) -> Float32Array:
        """The vectors of words from their character ids: [words, characters] to [words, dim]."""

    def lstm(
        self, direction: int, layer: int, rows: Float32Array, active: Int64Array, state: LstmState
    ) -> Float32Array:
        """The outputs of an LSTM, [tokens, projection].

        `rows` has the tokens of all texts step by step: the first of each text, the second, and
        so on; `active` is the number of texts that have a token at each step. The longest text
        comes first. `state` is changed to that after the last step.
        """


class NumpyNetwork:
    """The network in NumPy."""

    def __init__(self, weights: ElmoWeights, config: ElmoConfig) -> None:
        self._weights, self._config = weights, config

    def words(self, ids: Int64Array) -> Float32Array:
        """The vectors of words from their character ids, [words, projection]."""
        longest = int(word_lengths(ids).max(initial=0))
        config, weights = self._config, self._weights
        activate: Callable[[Float32Array], Float32Array] = (
            np.tanh if config.activation == "tanh" else relu
        )
        embedded = weights.characters[ids]  # [words, characters, char_dim]
        features = []
        for (width, _), dense in zip(config.filters, weights.convolutions, strict=True):
            count = num_positions(longest, width, config.max_characters)
            windows = np.stack([embedded[:, p : p + width] for p in range(count)], axis=1)
            outputs = windows.reshape(len(ids), count, -1) @ dense.matrix
            features.append(activate(outputs.max(axis=1) + dense.bias))
        rows = np.concatenate(features, axis=1)
        for highway in weights.highways:
            gate = sigmoid(affine(rows, highway.carry))
            rows = gate * relu(affine(rows, highway.transform)) + (1 - gate) * rows
        projection = weights.token_projection
        return rows if projection is None else affine(rows, projection)

    def lstm(
        self, direction: int, layer: int, rows: Float32Array, active: Int64Array, state: LstmState
    ) -> Float32Array:
        """The outputs of an LSTM, [tokens, projection]."""
        config, weights = self._config, self._weights.lstms[direction][layer]
        into, recurrent = np.split(weights.gates.matrix, [config.projection])
        bounds = group_bounds(active)
        out = np.empty((len(rows), config.projection), np.float32)
        for first, stop in step_blocks(bounds, BLOCK_ROWS):
            start = bounds[first]
            inputs = rows[start : bounds[stop]] @ into + weights.gates.bias
            for step in range(first, stop):
                count, here = active[step], slice(bounds[step], bounds[step + 1])
                gates = inputs[bounds[step] - start : bounds[step + 1] - start]
                gates += state.output[:count] @ recurrent
                i, j, f, o = np.split(gates, 4, axis=1)
                cells = sigmoid(i) * np.tanh(j) + sigmoid(f) * state.cells[:count]
                np.clip(cells, -config.cell_clip, config.cell_clip, out=state.cells[:count])
                hidden = (sigmoid(o) * np.tanh(state.cells[:count])) @ weights.projection
                np.clip(hidden, -config.proj_clip, config.proj_clip, out=out[here])
                state.output[:count] = out[here]
        return out


def num_positions(length: int, width: int, max_characters: int) -> int:
    """The windows of a filter that differ: those that touch a word, and one of padding alone.

    Max pooling over these is max pooling over all, for any further window is padding alone too.
    """
    return min(length + 1, max_characters - width + 1)


def step_blocks(bounds: Int64Array, max_rows: int) -> list[tuple[int, int]]:
    """Consecutive steps, first and stop, of about `max_rows` rows each."""
    blocks, first = [], 0
    for step in range(1, len(bounds)):
        if step == len(bounds) - 1 or bounds[step + 1] - bounds[first] > max_rows:
            blocks.append((first, step))
            first = step
    return blocks


def affine(rows: Float32Array, dense: DenseWeights) -> Float32Array:
    """rows · matrix + bias."""
    product: Float32Array = rows @ dense.matrix + dense.bias
    return product


def sigmoid(x: Float32Array) -> Float32Array:
    """σ(x) = (1 + tanh(x / 2)) / 2, which cannot overflow."""
    half = np.float32(0.5)
    value: Float32Array = half + half * np.tanh(half * x)
    return value


def relu(x: Float32Array) -> Float32Array:
    """max(x, 0)."""
    positive: Float32Array = np.maximum(x, np.float32(0))
    return positive
