"""An LSTM with a projection (Sak et al. 2014) over texts that are packed step by step.

    i, j, f, o = x · inputs + h · recurrent + bias
    c = clip(σ(i) tanh(j) + σ(f) c),   h = clip((σ(o) tanh(c)) · projection)

Inputs of many steps are multiplied at once, since they do not depend on h. The columns of the four
gates are in alternating panels: four panels have all gates of PANEL cells, whose new values are
computed while the products are in the cache.
"""

from typing import NamedTuple

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.kernels.core.checks import ArrayOf, checked, require
from malmoi.kernels.core.jit import jit_finite, jit_inline
from malmoi.kernels.transformer.activations import exp_nonpositive
from malmoi.kernels.transformer.gemm import PANEL, gemm_panel

GATES = 4
ONE, TWO = np.float32(1), np.float32(2)


class LstmPanels(NamedTuple):
    """Packed weights; cells and projection are filled up to whole panels with zeros."""

    inputs: Float32Array  # [gate panels, in, PANEL]
    recurrent: Float32Array  # [gate panels, projection, PANEL]
    biases: Float32Array  # [gate panels, PANEL]
    projection: Float32Array  # [panels, cells, PANEL]


class LstmBuffers(NamedTuple):
    """Memory for one LSTM: the state of each text, and what is computed of some steps."""

    output: Float32Array  # [texts, projection], h
    cells: Float32Array  # [texts, cells], c
    inputs: Float32Array  # [rows, gate panels · PANEL], of several steps
    gates: Float32Array  # [GATES, texts, PANEL], of one step and PANEL cells
    hidden: Float32Array  # [texts, cells], σ(o) tanh(c)
    zeros: Float32Array  # [PANEL]


@jit_inline
def sigmoid(x: np.float32) -> np.float32:
    """1 / (1 + exp(−x))."""
    small = exp_nonpositive(-abs(x))
    return (small if x < np.float32(0) else ONE) / (ONE + small)


@jit_inline
def tanh(x: np.float32) -> np.float32:
    """(1 − exp(−2x)) / (1 + exp(−2x))."""
    small = exp_nonpositive(-TWO * abs(x))
    value = (ONE - small) / (ONE + small)
    return -value if x < np.float32(0) else value


@jit_finite
def update_cells(
    panel: int, count: int, first: int, clip: np.float32, buffers: LstmBuffers
) -> None:
    """The new cells of one panel and their outputs before the projection, for `count` texts.

    `first` is the row of the first text among the inputs.
    """
    column, gate_column = panel * PANEL, GATES * panel * PANEL
    for text in range(count):
        inputs = buffers.inputs[first + text, gate_column : gate_column + GATES * PANEL]
        i, j = buffers.gates[0, text], buffers.gates[1, text]
        f, o = buffers.gates[2, text], buffers.gates[3, text]
        cells = buffers.cells[text, column : column + PANEL]
        hidden = buffers.hidden[text, column : column + PANEL]
        for k in range(PANEL):
            new = sigmoid(i[k] + inputs[k]) * tanh(j[k] + inputs[PANEL + k])
            new += sigmoid(f[k] + inputs[2 * PANEL + k]) * cells[k]
            new = min(max(new, -clip), clip)
            cells[k] = new
            hidden[k] = sigmoid(o[k] + inputs[3 * PANEL + k]) * tanh(new)


def check_buffers(
    rows: Float32Array,
    active: Int64Array,
    panels: LstmPanels,
    clips: tuple[np.float32, np.float32],
    buffers: LstmBuffers,
    out: Float32Array,
) -> None:
    """Raise ValueError unless weights, memory and texts fit each other."""
    gate_panels, depth, _ = panels.inputs.shape
    cells, width = gate_panels // GATES * PANEL, len(panels.projection) * PANEL
    texts, projection = len(buffers.output), panels.recurrent.shape[1]
    shapes = {
        "rows": (rows.shape[1], depth),
        "recurrent": (panels.recurrent.shape, (gate_panels, projection, PANEL)),
        "biases": (panels.biases.shape, (gate_panels, PANEL)),
        "projection": (panels.projection.shape[1:], (cells, PANEL)),
        "output": (buffers.output.shape[1], width),
        "cells": (buffers.cells.shape, (texts, cells)),
        "gates": (buffers.gates.shape, (GATES, texts, PANEL)),
        "hidden": (buffers.hidden.shape, (texts, cells)),
        "inputs": (buffers.inputs.shape[1], gate_panels * PANEL),
        "zeros": (buffers.zeros.shape, (PANEL,)),
        "out": (out.shape, (len(rows), projection)),
    }
    for name, (actual, expected) in shapes.items():
        require(actual == expected, f"{name} has the shape {actual}, not {expected}")
    require(gate_panels % GATES == 0, f"{gate_panels} panels are not of {GATES} gates")
    require(projection <= width, f"{projection} outputs are more than {width} columns")
    arrays = (rows, out, *panels, *buffers)
    require(all(a.flags.c_contiguous for a in arrays), "an array is not contiguous")
    require(all(a.dtype == np.float32 for a in arrays), "an array is not float32")
    most = int(active.max(initial=0))
    require(most <= min(texts, len(buffers.inputs)), f"{most} texts are more than fit the buffers")
    require(int(active.sum()) == len(rows), f"{active.sum()} tokens are not {len(rows)} rows")
    require(bool((np.diff(active) <= 0).all()), "the number of texts rises from step to step")
    require(int(active.min(initial=1)) >= 1, "there is a step without a text")


@checked(check_buffers, active=ArrayOf(np.int64, "steps"))
@jit_finite
def run_lstm(
    rows: Float32Array,
    active: Int64Array,
    panels: LstmPanels,
    clips: tuple[np.float32, np.float32],
    buffers: LstmBuffers,
    out: Float32Array,
) -> None:
    """Run all steps: `rows` [tokens, in] to `out` [tokens, projection].

    `active` is the number of texts at each step; `clips` are those of cells and outputs. The
    states in `buffers` are those of each text before the first step, and then after its last.
    """
    projection, capacity = out.shape[1], len(buffers.inputs)
    step = position = 0
    while step < len(active):
        stop, end = step, position
        while stop < len(active) and end + active[stop] - position <= capacity:
            end += active[stop]
            stop += 1
        for panel in range(len(panels.inputs)):
            columns = buffers.inputs[: end - position, panel * PANEL :]
            gemm_panel(rows[position:end], panels.inputs[panel], panels.biases[panel], columns)
        first = 0
        for now in range(step, stop):
            count = active[now]
            for panel in range(len(panels.inputs) // GATES):
                for gate in range(GATES):
                    recurrent = panels.recurrent[GATES * panel + gate]
                    products = buffers.gates[gate, :count]
                    gemm_panel(buffers.output[:count], recurrent, buffers.zeros, products)
                update_cells(panel, count, first, clips[0], buffers)
            for panel in range(len(panels.projection)):
                columns = buffers.output[:count, panel * PANEL :]
                hidden = buffers.hidden[:count]
                gemm_panel(hidden, panels.projection[panel], buffers.zeros, columns)
            for text in range(count):
                output, result = buffers.output[text], out[position + first + text]
                for k in range(projection):
                    output[k] = min(max(output[k], -clips[1]), clips[1])
                    result[k] = output[k]
            first += count
        position, step = end, stop
