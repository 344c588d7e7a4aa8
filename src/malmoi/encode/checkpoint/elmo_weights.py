"""The weights of an ELMo model, from HDF5 or safetensors: their names, their shapes, their checks.

    char_embed                                              [characters, char_dim]
    CNN/W_cnn_i, b_cnn_i                                    [1, width, char_dim, filters]
    CNN_high_k/W_carry, b_carry, W_transform, b_transform   [filters, filters]
    CNN_proj/W_proj, b_proj                                 [filters, projection]
    RNN_d/RNN/MultiRNNCell/Cell{l}/LSTMCell/W_0, B, W_P_0   d: 0 forward, 1 backward

Gates are in TensorFlow's order: input, candidate, forget, output. The 1 that TensorFlow adds to
the forget gate is not in the file; it is in the biases here.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.elmo_options import ElmoConfig
from malmoi.encode.checkpoint.weights import is_finite
from malmoi.errors import InvalidFileError
from malmoi.files.hdf5.reader import open_hdf5
from malmoi.files.source import InputFile
from malmoi.files.tensors import read_safetensors

SAFETENSORS = "weights.safetensors"
SUFFIXES = (".hdf5", ".h5")
CELL = "RNN_{}/RNN/MultiRNNCell/Cell{}/LSTMCell/"
FORGET_BIAS = np.float32(1)


class DenseWeights(NamedTuple):
    """A matrix [in, out] and its bias [out]."""

    matrix: Float32Array
    bias: Float32Array


class HighwayWeights(NamedTuple):
    """g = σ(carry), out = g · relu(transform) + (1 − g) · in (Srivastava et al. 2015)."""

    carry: DenseWeights
    transform: DenseWeights


class LstmWeights(NamedTuple):
    """One LSTM: its input and its last output, side by side, to four gates; and its projection.

    `gates` is [2 · projection, 4 · cells]; the `projection` [cells, projection] has no bias.
    """

    gates: DenseWeights
    projection: Float32Array


class ElmoWeights(NamedTuple):
    """All weights; `convolutions` [width · char_dim, filters], `lstms` by direction and layer."""

    characters: Float32Array
    convolutions: tuple[DenseWeights, ...]
    highways: tuple[HighwayWeights, ...]
    token_projection: DenseWeights | None  # None: words have as many numbers as there are filters
    lstms: tuple[tuple[LstmWeights, ...], ...]


def elmo_weights_file(folder: Path) -> Path:
    """The file of weights in an ELMo folder.

    Raises:
        InvalidFileError: There is none, or there are several.
    """
    if (folder / SAFETENSORS).is_file():
        return folder / SAFETENSORS
    paths = [path for path in sorted(folder.iterdir()) if path.suffix in SUFFIXES]
    named = [path for path in paths if "weights" in path.name]
    if len(named or paths) == 1:
        return (named or paths)[0]
    if not paths:
        raise InvalidFileError(f"{folder} has no weights.hdf5: it is not the folder of an ELMo")
    names = ", ".join(path.name for path in named or paths)
    raise InvalidFileError(f"{folder} has several files of weights: keep one of {names}")


def open_elmo_tensors(path: Path) -> Mapping[str, npt.NDArray[Any]]:
    """All tensors of a file of weights by name, as views of it."""
    if path.suffix == ".safetensors":
        return read_safetensors(InputFile(path))[0]
    return open_hdf5(InputFile(path))


def read_elmo_weights(folder: Path, config: ElmoConfig) -> ElmoWeights:
    """Read and check all weights of an ELMo folder.

    Raises:
        InvalidFileError: A file is damaged, or a tensor is missing or does not fit the options.
    """
    path = elmo_weights_file(folder)
    tensors = open_elmo_tensors(path)
    return _weights(checked_tensors(path, tensors, config), config)


def checked_tensors(
    path: Path, tensors: Mapping[str, npt.NDArray[Any]], config: ElmoConfig
) -> dict[str, Float32Array]:
    """The tensors that the options ask for, in float32."""
    checked = {}
    for name, shape in expected_shapes(config).items():
        if name not in tensors:
            if _is_optional(name, config):
                continue
            raise InvalidFileError(f"{path} has no '{name}', which its options ask for")
        tensor = tensors[name]
        if tensor.shape != shape:
            raise InvalidFileError(
                f"{path}: '{name}' is {_shown(tensor.shape)}, but its options need {_shown(shape)}"
            )
        if tensor.dtype.kind != "f":
            raise InvalidFileError(f"{path}: '{name}' holds {tensor.dtype} instead of floats")
        checked[name] = np.ascontiguousarray(tensor, np.float32)
        if not is_finite(checked[name]):
            raise InvalidFileError(f"{path}: '{name}' contains NaN or infinity")
    return checked


def expected_shapes(config: ElmoConfig) -> dict[str, tuple[int, ...]]:
    """The shape of each tensor that a model with these options has."""
    filters, projection, cells = config.num_filters, config.projection, config.cells
    shapes: dict[str, tuple[int, ...]] = {"char_embed": (config.num_characters, config.char_dim)}
    for i, (width, count) in enumerate(config.filters):
        shapes |= {f"CNN/W_cnn_{i}": (1, width, config.char_dim, count), f"CNN/b_cnn_{i}": (count,)}
    for k in range(config.highways):
        for gate in ("carry", "transform"):
            shapes |= {f"CNN_high_{k}/W_{gate}": (filters, filters)}
            shapes |= {f"CNN_high_{k}/b_{gate}": (filters,)}
    shapes |= {"CNN_proj/W_proj": (filters, projection), "CNN_proj/b_proj": (projection,)}
    for direction in range(2):
        for layer in range(config.layers):
            cell = CELL.format(direction, layer)
            shapes[cell + "W_0"] = (2 * projection, 4 * cells)
            shapes |= {cell + "B": (4 * cells,), cell + "W_P_0": (cells, projection)}
    return shapes


def _is_optional(name: str, config: ElmoConfig) -> bool:
    """Whether bilm-tf leaves a tensor out, because nothing has to be projected."""
    if name.startswith("CNN_proj/"):
        return config.num_filters == config.projection
    return name.endswith("/W_P_0") and config.cells == config.projection


def _weights(tensors: dict[str, Float32Array], config: ElmoConfig) -> ElmoWeights:
    def dense(folder: str, name: str) -> DenseWeights:
        matrix, bias = tensors[f"{folder}/W_{name}"], tensors[f"{folder}/b_{name}"]
        return DenseWeights(matrix.reshape(-1, len(bias)), bias)

    def lstm(direction: int, layer: int) -> LstmWeights:
        cell = CELL.format(direction, layer)
        bias = tensors[cell + "B"].copy()
        bias[2 * config.cells : 3 * config.cells] += FORGET_BIAS
        projection = tensors.get(cell + "W_P_0")
        if projection is None:
            projection = np.eye(config.cells, dtype=np.float32)
        return LstmWeights(DenseWeights(tensors[cell + "W_0"], bias), projection)

    folders = [f"CNN_high_{k}" for k in range(config.highways)]
    return ElmoWeights(
        characters=tensors["char_embed"],
        convolutions=tuple(dense("CNN", f"cnn_{i}") for i in range(len(config.filters))),
        highways=tuple(
            HighwayWeights(dense(folder, "carry"), dense(folder, "transform")) for folder in folders
        ),
        token_projection=dense("CNN_proj", "proj") if "CNN_proj/W_proj" in tensors else None,
        lstms=tuple(tuple(lstm(d, layer) for layer in range(config.layers)) for d in range(2)),
    )


def _shown(shape: tuple[int, ...]) -> str:
    return " × ".join(f"{size:,}" for size in shape) or "a single number"
