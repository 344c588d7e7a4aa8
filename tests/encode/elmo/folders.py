"""Small ELMo folders with random weights, written by h5py as AllenNLP and bilm-tf write them."""

import copy
import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from malmoi.encode.checkpoint.elmo_options import read_options
from malmoi.encode.checkpoint.elmo_weights import expected_shapes
from tests.naive_elmo import Tensors

OPTIONS: dict[str, Any] = {
    "lstm": {
        "cell_clip": 0.5,  # so low that they are needed
        "proj_clip": 0.4,
        "use_skip_connections": True,
        "n_layers": 2,
        "projection_dim": 6,
        "dim": 11,
    },
    "char_cnn": {
        "embedding": {"dim": 3},
        "filters": [[1, 4], [2, 5], [5, 9]],
        "n_highway": 2,
        "n_characters": 262,
        "max_characters_per_token": 20,
        "activation": "relu",
    },
}
PLAIN = {"lstm": {"use_skip_connections": False}, "char_cnn": {"activation": "tanh"}}


def options_with(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """The options with some values changed; None removes one."""
    options = copy.deepcopy(OPTIONS)
    for part, values in (changes or {}).items():
        options.setdefault(part, {}).update(values)
        options[part] = {k: v for k, v in options[part].items() if v is not None}
    return options


def save_elmo(
    folder: Path, changes: dict[str, Any] | None = None, *, seed: int = 5
) -> tuple[dict[str, Any], Tensors]:
    """A model in a folder of its own; its options and tensors."""
    folder.mkdir(parents=True, exist_ok=True)
    options = options_with(changes)
    (folder / "options.json").write_text(json.dumps(options))
    random = np.random.default_rng(seed)
    shapes = expected_shapes(read_options(folder))
    tensors = {
        name: (random.normal(size=shape) * (1.5 / np.prod(shape[:-1])) ** 0.5).astype(np.float32)
        for name, shape in shapes.items()
    }
    tensors["char_embed"] *= 12  # as large as what follows, though there are many rows
    write_weights(folder, tensors)
    return options, tensors


def write_weights(folder: Path, tensors: Tensors) -> None:
    """The weights of a folder as HDF5."""
    with h5py.File(folder / "weights.hdf5", "w") as file:
        for name, tensor in tensors.items():
            file[name] = tensor
