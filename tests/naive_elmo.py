"""ELMo in the most obvious way: loops over words, windows, steps and cells, in float64.

Written from the paper and the description of bilm-tf's files; it reads tensors by their names in
the file, and knows nothing of our weights, batches or packing.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
Tensors = Mapping[str, npt.NDArray[Any]]
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, PADDING = 256, 257, 258, 259, 260
State = dict[tuple[int, int], tuple[Matrix, Matrix]]  # by direction and layer: output, cells


def characters(word: str | int, size: int) -> list[int]:
    """The ids of a word of `size` characters; a number is a mark of the sentence."""
    inside = [word] if isinstance(word, int) else list(word.encode())[: size - 2]
    ids = [BEGIN_WORD, *inside, END_WORD]
    return ids + [PADDING] * (size - len(ids))


def token_vector(tensors: Tensors, options: dict[str, Any], ids: Sequence[int]) -> Matrix:
    """The vector of one word: every window of every filter, nothing trimmed."""
    cnn = options["char_cnn"]
    activate = np.tanh if cnn["activation"] == "tanh" else lambda x: np.maximum(x, 0)
    rows = np.array([tensors["char_embed"][i] for i in ids], np.float64)
    features: list[float] = []
    for number, (width, count) in enumerate(cnn["filters"]):
        weight, bias = tensors[f"CNN/W_cnn_{number}"][0], tensors[f"CNN/b_cnn_{number}"]
        for one in range(count):
            windows = range(len(ids) - width + 1)
            best = max(float((rows[p : p + width] * weight[:, :, one]).sum()) for p in windows)
            features.append(float(activate(best + float(bias[one]))))
    x = np.array(features)
    for layer in range(cnn["n_highway"]):
        part = {name: tensors[f"CNN_high_{layer}/{name}"].astype(np.float64) for name in
                ("W_carry", "b_carry", "W_transform", "b_transform")}  # fmt: skip
        gate = 1 / (1 + np.exp(-(x @ part["W_carry"] + part["b_carry"])))
        x = gate * np.maximum(x @ part["W_transform"] + part["b_transform"], 0) + (1 - gate) * x
    if "CNN_proj/W_proj" not in tensors:
        return x
    product: Matrix = x @ tensors["CNN_proj/W_proj"] + tensors["CNN_proj/b_proj"]
    return product


def layers(
    tensors: Tensors,
    options: dict[str, Any],
    words: Sequence[str | int],
    state: State | None = None,
) -> Matrix:
    """All layers of one text, [layers, tokens, 2 · projection], with its boundaries."""
    size, lstm = options["char_cnn"]["max_characters_per_token"], options["lstm"]
    marked = [BEGIN_SENTENCE, *words, END_SENTENCE]
    tokens = [token_vector(tensors, options, characters(word, size)) for word in marked]
    found = [np.array([np.concatenate([token, token]) for token in tokens])]
    directions = []
    for direction in (0, 1):
        rows, outputs = tokens[:: 1 - 2 * direction], []
        for layer in range(lstm["n_layers"]):
            rows = run_lstm(tensors, options, direction, layer, rows, state)
            outputs.append(rows[:: 1 - 2 * direction])
        directions.append(outputs)
    for forward, backward in zip(*directions, strict=True):
        found.append(np.array([np.concatenate(two) for two in zip(forward, backward, strict=True)]))
    return np.array(found)


def run_lstm(
    tensors: Tensors,
    options: dict[str, Any],
    direction: int,
    layer: int,
    rows: Sequence[Matrix],
    state: State | None,
) -> list[Matrix]:
    """One LSTM over the tokens of one text."""
    lstm = options["lstm"]
    cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell/"
    weight, bias = tensors[cell + "W_0"].astype(np.float64), tensors[cell + "B"]
    projection = tensors.get(cell + "W_P_0", np.eye(lstm["dim"]))
    cell_clip = lstm.get("cell_clip") or math.inf
    proj_clip = lstm.get("proj_clip") or math.inf
    state = {} if state is None else state
    zeros = (np.zeros(lstm["projection_dim"]), np.zeros(lstm["dim"]))
    output, cells = state.get((direction, layer), zeros)
    outputs = []
    for row in rows:
        i, j, f, o = np.split(np.concatenate([row, output]) @ weight + bias, 4)
        cells = sigmoid(i) * np.tanh(j) + sigmoid(f + 1) * cells
        cells = np.clip(cells, -cell_clip, cell_clip)
        output = np.clip((sigmoid(o) * np.tanh(cells)) @ projection, -proj_clip, proj_clip)
        residual = row if layer and lstm["use_skip_connections"] else 0
        outputs.append(output + residual)
    state[direction, layer] = (output, cells)
    return outputs


def sigmoid(x: Matrix) -> Matrix:
    """1 / (1 + exp(−x))."""
    value: Matrix = 1 / (1 + np.exp(-x))
    return value
