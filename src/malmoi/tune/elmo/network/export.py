"""Weights of a trained network under the names and in the shapes of ELMo's HDF5 file."""

import numpy as np
import torch
from torch import Tensor, nn

from malmoi.arrays import Float32Array
from malmoi.tune.elmo.network.bilm import DIRECTIONS, FORGET_BIAS, BidirectionalLm

CELL = "RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
FILE_GATES = (0, 2, 1, 3)  # torch has the gates i, f, j, o; the file i, j, f, o


def hdf5_weights(network: BidirectionalLm) -> dict[str, Float32Array]:
    """The weights of a biLM; the projection of its cells, which have none, is the identity."""
    cnn = network.cnn
    weights: dict[str, Tensor] = {"char_embed": cnn.embedding}
    for number, (kernel, bias) in enumerate(zip(cnn.kernels, cnn.biases, strict=True)):
        weights |= {f"CNN/W_cnn_{number}": kernel[None], f"CNN/b_cnn_{number}": bias}
    linear = {
        ("CNN_high_0", "carry"): cnn.carry,
        ("CNN_high_0", "transform"): cnn.transform,
        ("CNN_proj", "proj"): cnn.projection,
    }
    for (group, name), each in linear.items():
        weights |= {f"{group}/W_{name}": each.weight.T, f"{group}/b_{name}": each.bias}
    for direction in range(DIRECTIONS):
        for layer in range(network.num_layers):
            prefix = CELL.format(direction=direction, layer=layer)
            weights |= _cell(prefix, network.lstm(direction, layer))
    return {name: np.ascontiguousarray(w.detach().numpy()) for name, w in weights.items()}


def _cell(prefix: str, lstm: nn.LSTM) -> dict[str, Tensor]:
    weights = dict(lstm.named_parameters())
    matrix = torch.cat([weights["weight_ih_l0"], weights["weight_hh_l0"]], 1)
    bias = _in_file_order(weights["bias_ih_l0"] + weights["bias_hh_l0"])
    bias[2] -= FORGET_BIAS
    return {
        f"{prefix}/W_0": _in_file_order(matrix).flatten(0, 1).T,
        f"{prefix}/B": bias.flatten(),
        f"{prefix}/W_P_0": torch.eye(lstm.hidden_size),
    }


def _in_file_order(rows: Tensor) -> Tensor:
    """The gates [4, cells, …] of torch's rows [4 · cells, …], in the order of the file."""
    gates = rows.detach().reshape(len(FILE_GATES), -1, *rows.shape[1:])
    return gates[list(FILE_GATES)]
