"""The bidirectional language model: LSTMs from left to right and from right to left.

Texts of a batch are packed step by step and without padding: the first token of each text, the
second of each that has one, and so on. Each text begins with an empty state, so that its vectors
do not depend on other texts; the originals carry states from batch to batch.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.checkpoint.elmo_options import ElmoConfig
from malmoi.encode.elmo.numpy_network import ElmoNetwork, LstmState
from malmoi.encode.pooling.groups import group_bounds

DIRECTIONS = (0, 1)  # forward and backward


@dataclass(frozen=True, eq=False)
class TimeSteps:
    """The tokens of texts with these sizes, step by step."""

    sizes: Int64Array

    @cached_property
    def active(self) -> Int64Array:
        """The number of texts that have a token at each step."""
        ended = np.bincount(self.sizes)[1:]
        active: Int64Array = len(self.sizes) - group_bounds(ended)[:-1] - (self.sizes == 0).sum()
        return active

    @cached_property
    def rows(self) -> tuple[Int64Array, Int64Array]:
        """The token of each row, [tokens], where texts are read forward and backward."""
        order = np.argsort(-self.sizes, kind="stable")
        step = np.arange(len(self.active)).repeat(self.active)
        text = order[np.arange(len(step)) - group_bounds(self.active)[:-1].repeat(self.active)]
        bounds = group_bounds(self.sizes)
        return bounds[:-1][text] + step, bounds[1:][text] - 1 - step


def new_states(texts: int, config: ElmoConfig) -> list[list[LstmState]]:
    """Empty states by direction and layer; their texts are ordered by length, longest first."""
    sizes = (config.projection, config.cells)
    return [
        [
            LstmState(*(np.zeros((texts, size), np.float32) for size in sizes))
            for _ in range(config.layers)
        ]
        for _ in DIRECTIONS
    ]


def run_bilm(
    network: ElmoNetwork,
    config: ElmoConfig,
    tokens: Float32Array,
    steps: TimeSteps,
    layers: Sequence[int],
    *,
    threads: int = 1,
    states: list[list[LstmState]] | None = None,
) -> list[Float32Array]:
    """The hidden states of these layers, each [tokens, 2 · projection], forward then backward.

    Args:
        network: Computes the LSTMs.
        config: The sizes of the model.
        tokens: The vectors of all tokens, text by text, [tokens, projection].
        steps: The order in which the LSTMs read them.
        layers: The layers to return; layer 0 is the vector of the token, twice.
        threads: With two, the directions run at the same time.
        states: The states to begin with, which are changed; by default empty ones.
    """
    initial = states or new_states(int(steps.active.max(initial=0)), config)
    depth = max(layers)
    out = {layer: np.empty((len(tokens), config.dim), np.float32) for layer in layers}

    def run(direction: int) -> None:
        order = steps.rows[direction]
        half = slice(direction * config.projection, (direction + 1) * config.projection)
        rows = tokens[order]
        if 0 in out:
            out[0][:, half] = tokens
        for layer in range(depth):
            state = initial[direction][layer]
            outputs = network.lstm(direction, layer, rows, steps.active, state)
            if layer and config.skip_connections:
                outputs += rows
            rows = outputs
            if layer + 1 in out:
                out[layer + 1][order, half] = rows

    if threads > 1 and depth:
        with ThreadPoolExecutor(len(DIRECTIONS)) as pool:
            list(pool.map(run, DIRECTIONS))
    else:
        for direction in DIRECTIONS:
            run(direction)
    return [out[layer] for layer in layers]
