"""Reads a sentence-transformers folder: its modules after the last layer, and its prompts.

modules.json                  the modules, one after the other, each in a folder
1_Pooling/config.json         pooling_mode_mean_tokens: true, or pooling_mode: "mean"
2_Dense/                      config.json and model.safetensors
sentence_bert_config.json     the maximum length of a text
config_sentence_transformers.json   prompts, and the dimension to truncate vectors to
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import erf
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.config import read_any_json, read_json
from malmoi.encode.checkpoint.weights import is_finite, open_weights, weights_file
from malmoi.encode.pooling.groups import Pool
from malmoi.errors import InvalidFileError
from malmoi.vectors import l2_normalize

# In the order of concatenation; with their names in newer folders.
MODES: dict[str, tuple[str, Pool]] = {
    "pooling_mode_cls_token": ("cls", "cls"),
    "pooling_mode_max_tokens": ("max", "max"),
    "pooling_mode_mean_tokens": ("mean", "mean"),
    "pooling_mode_mean_sqrt_len_tokens": ("mean_sqrt_len_tokens", "mean_sqrt"),
    "pooling_mode_lasttoken": ("lasttoken", "last"),
}
UNSUPPORTED_MODE = "pooling_mode_weightedmean_tokens"
POOL_OF_MODE = dict(MODES.values())
_erf = np.vectorize(erf, otypes=[np.float32])  # of few numbers: NumPy has none
ACTIVATIONS: dict[str, Callable[[Float32Array], Float32Array]] = {
    "Identity": lambda rows: rows,
    "Tanh": np.tanh,
    "ReLU": lambda rows: np.maximum(rows, 0),
    "GELU": lambda rows: rows * (1 + _erf(rows * np.float32(0.5**0.5))) / 2,
}


@dataclass(frozen=True, eq=False)
class DenseModule:
    """A layer after pooling: activation(rows · weightᵀ + bias)."""

    weight: Float32Array  # [out, in]
    bias: Float32Array  # [out]
    activation: str

    def __call__(self, rows: Float32Array) -> Float32Array:
        """[n, in] to [n, out]."""
        return ACTIVATIONS[self.activation](rows @ self.weight.T + self.bias)


@dataclass(frozen=True, kw_only=True, eq=False)
class SentenceModules:
    """The modules of a folder; without a modules.json the pooling is the mean.

    `steps` follow the pooling; `truncate_dim` is the dimension that vectors are truncated to.
    """

    transformer: Path
    pools: tuple[Pool, ...] = ("mean",)
    steps: tuple[Callable[[Float32Array], Float32Array], ...] = ()
    max_length: int | None = None
    lowercase: bool = False
    prompts: Mapping[str, str] = field(default_factory=dict)
    default_prompt: str | None = None
    truncate_dim: int | None = None

    def finish(self, vectors: Float32Array) -> Float32Array:
        """Apply the steps after the pooling to pooled vectors [n, dim]."""
        for step in self.steps:
            vectors = step(vectors)
        return vectors[:, : self.truncate_dim]

    def output_dim(self, dim: int) -> int:
        """The dimension of a text's vector, for a model with hidden size `dim`."""
        pooled = np.zeros((1, len(self.pools) * dim), np.float32)
        return int(self.finish(pooled).shape[1])


def read_modules(folder: Path) -> SentenceModules:
    """The modules of a model folder, of sentence-transformers or not."""
    if not (folder / "modules.json").is_file():
        return SentenceModules(transformer=folder)
    modules = module_folders(folder)
    kinds = [kind for kind, _ in modules]
    if kinds[:2] != ["Transformer", "Pooling"]:
        raise InvalidFileError(
            f"{folder / 'modules.json'} must begin with Transformer, Pooling: {kinds}"
        )
    steps: list[Callable[[Float32Array], Float32Array]] = []
    for kind, path in modules[2:]:
        if kind == "Dropout":  # for training only
            continue
        if kind not in ("Dense", "Normalize"):
            raise InvalidFileError(
                f"{folder / 'modules.json'} has the module '{kind}', which is not supported"
            )
        steps.append(l2_normalize if kind == "Normalize" else read_dense(path))
    return SentenceModules(
        transformer=modules[0][1],
        pools=read_pools(modules[1][1] / "config.json"),
        steps=tuple(steps),
        **read_options(folder, modules[0][1]),
    )


def module_folders(folder: Path) -> list[tuple[str, Path]]:
    """The kind and the folder of each module."""
    path = folder / "modules.json"
    modules = read_any_json(path)
    try:
        folders = [(str(m["type"]).rsplit(".", 1)[-1], folder / str(m["path"])) for m in modules]
    except (KeyError, TypeError) as error:
        raise InvalidFileError(f"{path} is not a list of modules with type and path") from error
    for kind, module in folders:
        if not module.resolve().is_relative_to(folder.resolve()):
            raise InvalidFileError(f"{path} has a {kind} outside of its folder: {module}")
    return folders


def read_pools(path: Path) -> tuple[Pool, ...]:
    """How tokens are pooled, in the older or newer format."""
    values = read_json(path)
    if values.get("include_prompt") is False:
        raise InvalidFileError(f"{path}: include_prompt=false is not supported")
    if "pooling_mode" in values:
        named = values["pooling_mode"]
        names = [str(name) for name in named] if isinstance(named, list) else [str(named)]
    else:
        names = [name for key, (name, _) in MODES.items() if values.get(key)] or ["mean"]
        names += ["weightedmean"] if values.get(UNSUPPORTED_MODE) else []
    for name in names:
        if name not in POOL_OF_MODE:
            raise InvalidFileError(
                f"{path}: pooling mode '{name}' is not supported, only {', '.join(POOL_OF_MODE)}"
            )
    return tuple(POOL_OF_MODE[name] for name in names)


def read_dense(folder: Path) -> DenseModule:
    """Read the folder of a Dense module."""
    path = folder / "config.json"
    values = read_json(path)
    activation = str(values.get("activation_function", "torch.nn.Identity")).rsplit(".", 1)[-1]
    if activation not in ACTIVATIONS or values.get("use_residual"):
        raise InvalidFileError(
            f"{path}: activation '{activation}', or a residual, is not supported; known are"
            f" {', '.join(ACTIVATIONS)}"
        )
    tensors = open_weights(weights_file(folder))
    try:
        shape = (int(values["out_features"]), int(values["in_features"]))
        weight = tensors["linear.weight"]
        bias = (
            tensors["linear.bias"] if values.get("bias", True) else np.zeros(shape[0], np.float32)
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidFileError(
            f"{folder} is not a Dense module: {error} is missing or invalid"
        ) from error
    if weight.shape != shape or bias.shape != shape[:1]:
        raise InvalidFileError(
            f"{folder}: its weights have shape {weight.shape}, but {path} requires {shape}"
        )
    if not (is_finite(weight) and is_finite(bias)):
        raise InvalidFileError(
            f"{folder}: its weights contain NaN or infinity: download the model again"
        )
    return DenseModule(weight.astype(np.float32), bias.astype(np.float32), activation)


def read_options(folder: Path, transformer: Path) -> dict[str, Any]:
    """The maximum length, lower-casing, prompts and truncated dimension."""
    options: dict[str, Any] = {}
    for path in sorted(transformer.glob("sentence_*_config.json"))[:1]:
        values = read_json(path)
        options["max_length"] = values.get("max_seq_length")
        options["lowercase"] = bool(values.get("do_lower_case", False))
    path = folder / "config_sentence_transformers.json"
    if path.is_file():
        values = read_json(path)
        options["prompts"] = values.get("prompts") or {}
        if not isinstance(options["prompts"], dict):
            raise InvalidFileError(f"{path}: prompts is not an object of names and texts")
        options["default_prompt"] = values.get("default_prompt_name")
        options["truncate_dim"] = dim = values.get("truncate_dim")
        if dim is not None and not (isinstance(dim, int) and dim > 0):
            raise InvalidFileError(f"{path}: truncate_dim {dim!r} is not a positive integer")
    return options
