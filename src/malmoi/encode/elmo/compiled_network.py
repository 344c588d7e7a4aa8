"""The network of ELMo by compiled kernels, for processors with AVX2 and FMA.

Imports Numba, so it is not loaded for a first short call.
"""

from threading import Lock

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.checkpoint.elmo_options import ElmoConfig
from malmoi.encode.checkpoint.elmo_weights import DenseWeights, ElmoWeights, LstmWeights
from malmoi.encode.elmo.numpy_network import LstmState, num_positions
from malmoi.encode.elmo.word_vectors import word_lengths
from malmoi.encode.runtime.packed_weights import pack_float32
from malmoi.kernels.core.jit import readonly_view
from malmoi.kernels.elmo.char_cnn import (
    RELU,
    TANH,
    ConvolutionBuffers,
    DensePanels,
    convolve_words,
    mix_highway,
    multiply_words,
)
from malmoi.kernels.elmo.lstm import GATES, LstmBuffers, LstmPanels, run_lstm
from malmoi.kernels.transformer.gemm import PANEL

WINDOW_ROWS = 144  # windows that are multiplied together, at least
INPUT_ROWS = 256  # tokens whose inputs are multiplied together, at least
ZEROS = readonly_view(np.zeros(PANEL, np.float32))


class CompiledNetwork:
    """The network by kernels; any number of threads may use it."""

    def __init__(self, weights: ElmoWeights, config: ElmoConfig) -> None:
        self._config, self._weights = config, weights
        self._filters = [pack_dense(dense) for dense in weights.convolutions]
        self._highways = [
            (pack_dense(highway.carry), pack_dense(highway.transform))
            for highway in weights.highways
        ]
        projection = weights.token_projection
        self._projection = None if projection is None else pack_dense(projection)
        self._lstms = [[pack_lstm(lstm) for lstm in layers] for layers in weights.lstms]
        largest = float(np.finfo(np.float32).max)  # kernels compute without infinity
        self._clips = (
            np.float32(min(config.cell_clip, largest)),
            np.float32(min(config.proj_clip, largest)),
        )
        self._lock = Lock()
        self._free: list[LstmBuffers] = []  # buffers that no LSTM uses now

    def words(self, ids: Int64Array) -> Float32Array:
        """The vectors of words from their character ids, [words, projection]."""
        config, lengths = self._config, word_lengths(ids)
        activation = TANH if config.activation == "tanh" else RELU
        rows, column = np.empty((len(ids), config.num_filters), np.float32), 0
        for (width, count), filters in zip(config.filters, self._filters, strict=True):
            positions = np.array(
                [num_positions(int(n), width, config.max_characters) for n in lengths], np.int64
            )
            size = max(WINDOW_ROWS, int(positions.max(initial=0)))
            depth = width * config.char_dim
            buffers = ConvolutionBuffers(zeros(size, depth), zeros(size, PANEL), ZEROS)
            features = np.empty((len(ids), count), np.float32)
            characters = self._weights.characters
            convolve_words(ids, positions, characters, filters, activation, buffers, features)
            rows[:, column : column + count] = features
            column += count
        for carry, transform in self._highways:
            mix_highway(affine(rows, carry), affine(rows, transform), rows)
        if self._projection is None:
            return rows
        return affine(rows, self._projection)[:, : config.projection]

    def lstm(
        self, direction: int, layer: int, rows: Float32Array, active: Int64Array, state: LstmState
    ) -> Float32Array:
        """The outputs of an LSTM, [tokens, projection]."""
        panels, count = self._lstms[direction][layer], len(state.cells)
        out = np.empty((len(rows), self._config.projection), np.float32)
        buffers = self._buffers(panels, count)
        _copy(state, buffers, into=True)
        run_lstm(np.ascontiguousarray(rows), active, panels, self._clips, buffers, out)
        _copy(state, buffers, into=False)
        with self._lock:
            self._free.append(buffers)
        return out

    def _buffers(self, panels: LstmPanels, texts: int) -> LstmBuffers:
        with self._lock:
            while self._free:
                if len((buffers := self._free.pop()).cells) >= texts:
                    return buffers
        gates, cells = len(panels.inputs) * PANEL, panels.projection.shape[1]
        return LstmBuffers(
            output=zeros(texts, len(panels.projection) * PANEL),
            cells=zeros(texts, cells),
            inputs=zeros(max(INPUT_ROWS, texts), gates),
            gates=np.zeros((GATES, texts, PANEL), np.float32),
            hidden=zeros(texts, cells),
            zeros=ZEROS,
        )


def _copy(state: LstmState, buffers: LstmBuffers, *, into: bool) -> None:
    """Copy the state of texts into padded buffers, or back."""
    for ours, padded in ((state.output, buffers.output), (state.cells, buffers.cells)):
        part = padded[: len(ours), : ours.shape[1]]
        if into:
            padded[: len(ours)] = 0
            part[:] = ours
        else:
            ours[:] = part


def pack_dense(dense: DenseWeights) -> DensePanels:
    """A matrix and its bias in panels."""
    packed = pack_float32([dense])
    return DensePanels(packed.panels[0], packed.biases[0].reshape(-1, PANEL))


def pack_lstm(weights: LstmWeights) -> LstmPanels:
    """An LSTM in panels: four panels have the gates of PANEL cells."""
    projection = weights.projection
    cells, width = projection.shape
    panels = -(-cells // PANEL)

    def by_gate(columns: Float32Array) -> Float32Array:
        """[depth, 4 · cells] to [panels · 4, depth, PANEL]."""
        gates = columns.reshape(-1, GATES, cells)
        padded = np.pad(gates, ((0, 0), (0, 0), (0, panels * PANEL - cells)))
        each = padded.reshape(len(columns), GATES, panels, PANEL).transpose(2, 1, 0, 3)
        packed = np.ascontiguousarray(each.reshape(panels * GATES, len(columns), PANEL))
        return readonly_view(packed)

    padded = np.pad(projection, ((0, panels * PANEL - cells), (0, 0)))
    matrix = weights.gates.matrix
    return LstmPanels(
        inputs=by_gate(matrix[:width]),
        recurrent=by_gate(matrix[width:]),
        biases=readonly_view(by_gate(weights.gates.bias[np.newaxis])[:, 0].copy()),
        projection=pack_float32([(padded, np.zeros(width, np.float32))]).panels[0],
    )


def affine(rows: Float32Array, dense: DensePanels) -> Float32Array:
    """rows · matrix + bias, with zeros up to the last whole panel of columns."""
    out = np.empty((len(rows), len(dense.panels), PANEL), np.float32)
    multiply_words(rows, *dense, out)
    return out.reshape(len(rows), -1)


def zeros(rows: int, columns: int) -> Float32Array:
    """A matrix of zeros."""
    return np.zeros((rows, columns), np.float32)
