"""A sentence-transformers folder: what its modules do after the last layer, and before the first.

modules.json                  the modules, one after the other, each in a folder
1_Pooling/config.json         pooling_mode_mean_tokens: true, or pooling_mode: "mean"
2_Dense/                      config.json and model.safetensors
sentence_bert_config.json     the longest text
config_sentence_transformers.json   prompts, and how many numbers of a vector are kept
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.checkpoint.config import read_any_json, read_json
from malmoi.encode.checkpoint.weights import is_finite, open_weights, weights_file
from malmoi.encode.pooling.groups import Pool, pool_groups
from malmoi.errors import InvalidFileError
from malmoi.vectors import l2_normalize

# In the order in which several are concatenated; with their names in newer folders.
MODES: dict[str, tuple[str, Pool]] = {
    "pooling_mode_cls_token": ("cls", "cls"),
    "pooling_mode_max_tokens": ("max", "max"),
    "pooling_mode_mean_tokens": ("mean", "mean"),
    "pooling_mode_mean_sqrt_len_tokens": ("mean_sqrt_len_tokens", "mean_sqrt"),
    "pooling_mode_lasttoken": ("lasttoken", "last"),
}
UNKNOWN_MODE = "pooling_mode_weightedmean_tokens"
BY_NAME = dict(MODES.values())
ACTIVATIONS: dict[str, Callable[[Float32Array], Float32Array]] = {
    "Identity": lambda rows: rows,
    "Tanh": np.tanh,
    "ReLU": lambda rows: np.maximum(rows, 0),
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
    """What a folder asks for; a folder without modules.json is pooled by the mean.

    `first` is how many numbers of a vector are kept, where it is not all of them.
    """

    transformer: Path
    pools: tuple[Pool, ...] = ("mean",)
    steps: tuple[Callable[[Float32Array], Float32Array], ...] = ()
    max_length: int | None = None
    lower: bool = False
    prompts: Mapping[str, str] = field(default_factory=dict)
    default_prompt: str | None = None
    first: int | None = None

    def finish(self, rows: Float32Array, bounds: Int64Array) -> Float32Array:
        """The last layer's pieces [pieces, dim] as vectors of texts."""
        pooled = [pool_groups(rows, bounds, how) for how in self.pools]
        return self.stepped(np.concatenate(pooled, axis=1))

    def stepped(self, vectors: Float32Array) -> Float32Array:
        """Pooled vectors [n, dim] after the steps that follow."""
        for step in self.steps:
            vectors = step(vectors)
        return vectors[:, : self.first]


def read_modules(folder: Path) -> SentenceModules:
    """What a folder says of itself, be it of sentence-transformers or not."""
    if not (folder / "modules.json").is_file():
        return SentenceModules(transformer=folder)
    places = _module_folders(folder)
    kinds = [kind for kind, _ in places]
    if kinds[:2] != ["Transformer", "Pooling"]:
        raise InvalidFileError(
            f"{folder / 'modules.json'} must begin with Transformer, Pooling: {kinds}"
        )
    steps: list[Callable[[Float32Array], Float32Array]] = []
    for kind, place in places[2:]:
        if kind == "Dropout":  # for training alone
            continue
        if kind not in ("DenseModule", "Normalize"):
            raise InvalidFileError(
                f"{folder / 'modules.json'} has a module '{kind}', which is not known"
            )
        steps.append(l2_normalize if kind == "Normalize" else read_dense(place))
    return SentenceModules(
        transformer=places[0][1],
        pools=read_pools(places[1][1] / "config.json"),
        steps=tuple(steps),
        **_before(folder, places[0][1]),
    )


def _module_folders(folder: Path) -> list[tuple[str, Path]]:
    path = folder / "modules.json"
    modules = read_any_json(path)
    try:
        found = [(str(m["type"]).rsplit(".", 1)[-1], folder / str(m["path"])) for m in modules]
    except (KeyError, TypeError) as error:
        raise InvalidFileError(f"{path} is no list of modules with type and path") from error
    for kind, place in found:
        if not place.resolve().is_relative_to(folder.resolve()):
            raise InvalidFileError(f"{path} has a {kind} outside of its folder: {place}")
    return found


def read_pools(path: Path) -> tuple[Pool, ...]:
    """How pieces are pooled, in either dialect."""
    said = read_json(path)
    if said.get("include_prompt") is False:
        raise InvalidFileError(
            f"{path} leaves a prompt's pieces out of the pooling, which is not known here"
        )
    if "pooling_mode" in said:
        named = said["pooling_mode"]
        names = [str(name) for name in named] if isinstance(named, list) else [str(named)]
    else:
        names = [name for key, (name, _) in MODES.items() if said.get(key)] or ["mean"]
        names += ["weightedmean"] if said.get(UNKNOWN_MODE) else []
    for name in names:
        if name not in BY_NAME:
            raise InvalidFileError(
                f"{path} pools by '{name}', which is none of {', '.join(BY_NAME)}"
            )
    return tuple(BY_NAME[name] for name in names)


def read_dense(folder: Path) -> DenseModule:
    """A Dense module's folder."""
    path = folder / "config.json"
    said = read_json(path)
    activation = str(said.get("activation_function", "torch.nn.Identity")).rsplit(".", 1)[-1]
    if activation not in ACTIVATIONS or said.get("use_residual"):
        raise InvalidFileError(
            f"{path} has '{activation}' or a residual: {', '.join(ACTIVATIONS)} are known"
        )
    tensors = open_weights(weights_file(folder))
    try:
        shape = (int(said["out_features"]), int(said["in_features"]))
        weight = tensors["linear.weight"]
        bias = tensors["linear.bias"] if said.get("bias", True) else np.zeros(shape[0], np.float32)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidFileError(
            f"{folder} is no Dense module: {error} is missing or wrong"
        ) from error
    if weight.shape != shape or bias.shape != shape[:1]:
        raise InvalidFileError(
            f"{folder}: weights of shape {weight.shape} where {path} says {shape}"
        )
    if not (is_finite(weight) and is_finite(bias)):
        raise InvalidFileError(f"{folder}: its weights hold NaN or infinity: get the model again")
    return DenseModule(weight.astype(np.float32), bias.astype(np.float32), activation)


def _before(folder: Path, transformer: Path) -> dict[str, Any]:
    """The longest text, lower-casing, prompts, and how long a vector may be."""
    found: dict[str, Any] = {}
    for path in sorted(transformer.glob("sentence_*_config.json"))[:1]:
        said = read_json(path)
        found["max_length"] = said.get("max_seq_length")
        found["lower"] = bool(said.get("do_lower_case", False))
    path = folder / "config_sentence_transformers.json"
    if path.is_file():
        said = read_json(path)
        found["prompts"] = said.get("prompts") or {}
        if not isinstance(found["prompts"], dict):
            raise InvalidFileError(f"{path} has prompts that are no names with texts")
        found["default_prompt"] = said.get("default_prompt_name")
        found["first"] = first = said.get("truncate_dim")
        if first is not None and not (isinstance(first, int) and first > 0):
            raise InvalidFileError(f"{path} cuts vectors to {first!r} numbers, which cannot be")
    return found
