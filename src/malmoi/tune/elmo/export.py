"""Weights of a trained network under the names and in the shapes of ELMo's HDF5 file."""

import numpy as np
import torch
from torch import Tensor

from malmoi.arrays import Float32Array
from malmoi.tune.elmo.network import FORGET_BIAS, BidirectionalLm

CELL = "RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
FILE_GATES = (0, 2, 1, 3)  # torch has the gates i, f, j, o; the file i, j, f, o


def hdf5_weights(network: BidirectionalLm) -> dict[str, Float32Array]:
    """The weights of a biLM; the projection of its cells, which have none, is the identity."""
    cnn = network.cnn
    weights = {"char_embed": cnn.embedding}
    for number, (kernel, bias) in enumerate(zip(cnn.kernels, cnn.biases, strict=True)):
        weights |= {f"CNN/W_cnn_{number}": kernel[None], f"CNN/b_cnn_{number}": bias}
    linear = {
        ("CNN_high_0", "carry"): cnn.carry,
        ("CNN_high_0", "transform"): cnn.transform,
        ("CNN_proj", "proj"): cnn.projection,
    }
    for (group, name), layer in linear.items():
        weights |= {f"{group}/W_{name}": layer.weight.T, f"{group}/b_{name}": layer.bias}
    for direction, lstms in enumerate(network.lstms):
        for layer, lstm in enumerate(lstms):  # type: ignore[arg-type]
            cell = CELL.format(direction=direction, layer=layer)
            matrix = torch.cat([lstm.weight_ih_l0, lstm.weight_hh_l0], 1)
            bias = _in_file_order(lstm.bias_ih_l0 + lstm.bias_hh_l0)
            bias[2] -= FORGET_BIAS
            weights |= {
                f"{cell}/W_0": _in_file_order(matrix).flatten(0, 1).T,
                f"{cell}/B": bias.flatten(),
                f"{cell}/W_P_0": torch.eye(lstm.hidden_size),
            }
    return {name: np.ascontiguousarray(w.detach().numpy()) for name, w in weights.items()}


def _in_file_order(rows: Tensor) -> Tensor:
    """The gates [4, cells, …] of torch's rows [4 · cells, …], in the order of the file."""
    return rows.detach().unflatten(0, (len(FILE_GATES), -1))[list(FILE_GATES)]
