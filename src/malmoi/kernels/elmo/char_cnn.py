"""The character CNN of ELMo: convolutions over the characters of words, max pooling, highways.

A filter's windows are rows of a matrix: those of several words are multiplied together, then each
word takes the maximum of its own rows. Windows beyond a word are padding alone and all the same,
so one of them is enough.
"""

from typing import NamedTuple

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.kernels.core.checks import ArrayOf, checked, require
from malmoi.kernels.core.jit import jit_finite
from malmoi.kernels.elmo.lstm import ONE, sigmoid, tanh
from malmoi.kernels.transformer.gemm import PANEL, gemm_panel

RELU, TANH = 0, 1


class DensePanels(NamedTuple):
    """A packed matrix, such as the filters of one width; zeros fill the last panel."""

    panels: Float32Array  # [panels, depth, PANEL]; of filters the depth is width · char_dim
    biases: Float32Array  # [panels, PANEL]


class ConvolutionBuffers(NamedTuple):
    """The windows of some words and their products with one panel."""

    windows: Float32Array  # [rows, width · char_dim]
    products: Float32Array  # [rows, PANEL]
    zeros: Float32Array  # [PANEL]


@jit_finite
def fill_windows(
    ids: Int64Array, positions: int, characters: Float32Array, windows: Float32Array
) -> None:
    """The windows of one word: row p has the characters p, p + 1, … side by side."""
    dim = characters.shape[1]
    width = windows.shape[1] // dim
    for position in range(positions):
        window = windows[position]
        for k in range(width):
            row = characters[ids[position + k]]
            for j in range(dim):
                window[k * dim + j] = row[j]


@jit_finite
def pool_windows(
    products: Float32Array, biases: Float32Array, activation: int, out: Float32Array
) -> None:
    """The maximum of each column, plus its bias, through the activation."""
    for j in range(len(out)):
        out[j] = products[0, j]
    for row in range(1, len(products)):
        each = products[row]
        for j in range(len(out)):
            out[j] = max(out[j], each[j])
    for j in range(len(out)):
        value = out[j] + biases[j]
        out[j] = max(value, np.float32(0)) if activation == RELU else tanh(value)


def check_convolution(
    ids: Int64Array,
    positions: Int64Array,
    characters: Float32Array,
    filters: DensePanels,
    activation: int,
    buffers: ConvolutionBuffers,
    out: Float32Array,
) -> None:
    """Raise ValueError unless filters, words and memory fit each other."""
    panels, depth, _ = filters.panels.shape
    rows, dim = len(buffers.windows), characters.shape[1]
    shapes = {
        "panels": (filters.panels.shape, (panels, depth, PANEL)),
        "biases": (filters.biases.shape, (panels, PANEL)),
        "windows": (buffers.windows.shape, (rows, depth)),
        "products": (buffers.products.shape, (rows, PANEL)),
        "zeros": (buffers.zeros.shape, (PANEL,)),
    }
    for name, (actual, expected) in shapes.items():
        require(actual == expected, f"{name} has the shape {actual}, not {expected}")
    require(depth % dim == 0, f"windows of {depth} numbers are not of {dim} per character")
    require((panels - 1) * PANEL < out.shape[1] <= panels * PANEL, "out does not fit the filters")
    longest = int(positions.max(initial=1))
    require(longest <= rows, f"a word of {longest} windows is more than {rows} rows")
    require(int(positions.min(initial=1)) >= 1, "a word has no window")
    require(longest + depth // dim - 1 <= ids.shape[1], "windows reach beyond the characters")
    arrays = (*filters, *buffers, out)
    require(all(a.flags.c_contiguous for a in arrays), "an array is not contiguous")
    require(all(a.dtype == np.float32 for a in arrays), "an array is not float32")
    require(len(out) == len(ids), f"{len(out)} rows of out are not {len(ids)} words")


@checked(
    check_convolution,
    ids=ArrayOf(np.int64, "words", "characters", below="rows"),
    positions=ArrayOf(np.int64, "words"),
    characters=ArrayOf(np.float32, "rows", "dim"),
)
@jit_finite
def convolve_words(
    ids: Int64Array,
    positions: Int64Array,
    characters: Float32Array,
    filters: DensePanels,
    activation: int,
    buffers: ConvolutionBuffers,
    out: Float32Array,
) -> None:
    """All filters of one width over all words: character ids to `out` [words, filters].

    `positions` is the number of windows of each word that differ.
    """
    word, count = 0, out.shape[1]
    while word < len(ids):
        stop, rows = word, 0
        while stop < len(ids) and rows + positions[stop] <= len(buffers.windows):
            fill_windows(ids[stop], positions[stop], characters, buffers.windows[rows:])
            rows += positions[stop]
            stop += 1
        for panel in range(len(filters.panels)):
            products, column = buffers.products[:rows], panel * PANEL
            gemm_panel(buffers.windows[:rows], filters.panels[panel], buffers.zeros, products)
            first = 0
            for each in range(word, stop):
                last = first + positions[each]
                pooled = out[each, column : min(column + PANEL, count)]
                pool_windows(products[first:last], filters.biases[panel], activation, pooled)
                first = last
        word = stop


@checked(
    rows=ArrayOf(np.float32, "words", "depth"),
    panels=ArrayOf(np.float32, "panels", "depth", PANEL),
    biases=ArrayOf(np.float32, "panels", PANEL),
    out=ArrayOf(np.float32, "words", "panels", PANEL),
)
@jit_finite
def multiply_words(
    rows: Float32Array, panels: Float32Array, biases: Float32Array, out: Float32Array
) -> None:
    """out = rows · matrix + bias, in panels."""
    if len(rows) == 0:
        return
    columns = out.reshape(len(out), -1)
    for panel in range(len(panels)):
        gemm_panel(rows, panels[panel], biases[panel], columns[:, panel * PANEL :])


def check_highway(carry: Float32Array, transform: Float32Array, rows: Float32Array) -> None:
    """Raise ValueError if there are fewer panels than columns."""
    require(carry.shape[1] >= rows.shape[1], "carry has fewer columns than rows")


@checked(
    check_highway,
    carry=ArrayOf(np.float32, "words", "padded"),
    transform=ArrayOf(np.float32, "words", "padded"),
    rows=ArrayOf(np.float32, "words", "columns"),
)
@jit_finite
def mix_highway(carry: Float32Array, transform: Float32Array, rows: Float32Array) -> None:
    """rows = g · relu(transform) + (1 − g) · rows, where g = σ(carry)."""
    for word in range(len(rows)):
        gate, new, row = carry[word], transform[word], rows[word]
        for k in range(len(row)):
            share = sigmoid(gate[k])
            row[k] = share * max(new[k], np.float32(0)) + (ONE - share) * row[k]
