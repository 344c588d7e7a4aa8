"""A model's weights under one set of names, whatever its family calls them; shapes checked.

    words, positions, segments         tables [entries, embedding]
    distances                          a table [buckets, heads], of MPNet alone
    table_norm, project                what follows the tables; `project` where they are narrow
    layer.N.query, key, value          attention [dim, dim]
    layer.N.attended, attended_norm    what follows attention
    layer.N.inner, outer, outer_norm   the feed-forward part

All but the tables are pairs `.weight` and `.bias`; matrices are [out, in].
"""

import hashlib
from functools import cache
from pathlib import Path

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.config import Config, read_json
from malmoi.errors import InvalidFileError
from malmoi.files.source import InputFile
from malmoi.files.tensors import Tensors, read_safetensors

Weights = dict[str, Float32Array]
Expected = dict[str, tuple[str, tuple[int, ...]]]  # our name: theirs, and its shape

TABLES = {
    "words": "embeddings.word_embeddings.weight",
    "positions": "embeddings.position_embeddings.weight",
    "segments": "embeddings.token_type_embeddings.weight",
    "distances": "encoder.relative_attention_bias.weight",
}
BESIDE = {"table_norm": "embeddings.LayerNorm", "project": "embeddings_project"}
BERT = {
    "query": "encoder.layer.{}.attention.self.query",
    "key": "encoder.layer.{}.attention.self.key",
    "value": "encoder.layer.{}.attention.self.value",
    "attended": "encoder.layer.{}.attention.output.dense",
    "attended_norm": "encoder.layer.{}.attention.output.LayerNorm",
    "inner": "encoder.layer.{}.intermediate.dense",
    "outer": "encoder.layer.{}.output.dense",
    "outer_norm": "encoder.layer.{}.output.LayerNorm",
}
DISTILBERT = {
    "query": "transformer.layer.{}.attention.q_lin",
    "key": "transformer.layer.{}.attention.k_lin",
    "value": "transformer.layer.{}.attention.v_lin",
    "attended": "transformer.layer.{}.attention.out_lin",
    "attended_norm": "transformer.layer.{}.sa_layer_norm",
    "inner": "transformer.layer.{}.ffn.lin1",
    "outer": "transformer.layer.{}.ffn.lin2",
    "outer_norm": "transformer.layer.{}.output_layer_norm",
}
MPNET = BERT | {
    "query": "encoder.layer.{}.attention.attn.q",
    "key": "encoder.layer.{}.attention.attn.k",
    "value": "encoder.layer.{}.attention.attn.v",
    "attended": "encoder.layer.{}.attention.attn.o",
    "attended_norm": "encoder.layer.{}.attention.LayerNorm",
}
LAYERS = {"distilbert": DISTILBERT, "mpnet": MPNET}  # and BERT's for all others
# Names in front of all others when a model was saved with its head, and those of old TensorFlow.
PREFIXES = ("bert.", "distilbert.", "electra.", "mpnet.", "roberta.")
OLD_ENDINGS = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
FILE = "model.safetensors"
INDEX = f"{FILE}.index.json"  # says which of several files holds what
PICKLE = "pytorch_model.bin"
REFUSED = (PICKLE, f"{PICKLE}.index.json", "tf_model.h5", "flax_model.msgpack")


def weights_file(folder: Path) -> Path:
    """Where the weights are, or the index of their files; other kinds are refused by name."""
    for name in (FILE, INDEX):
        if (folder / name).is_file():
            return folder / name
    for name in REFUSED:
        if not (folder / name).is_file():
            continue
        if name.startswith(PICKLE):
            raise InvalidFileError(
                f"{folder / name} is a pickle, which may run any program when it is opened:"
                f" malmoi convert {folder} NEW_FOLDER takes the weights out of it and nothing else"
            )
        raise InvalidFileError(f"{folder / name} cannot be read: save the model as {FILE}")
    raise InvalidFileError(f"{folder} has no {FILE}: it is no folder of a model")


def weights_files(path: Path) -> list[Path]:
    """The files that hold weights: the file itself, or those that an index names."""
    if path.name != INDEX:
        return [path]
    return sorted({path.with_name(name) for name in _index(path).values()})


def open_weights(path: Path) -> Tensors:
    """Every tensor of a file of weights, or of the files that an index names."""
    if path.name != INDEX:
        return read_safetensors(InputFile(path))[0]
    held = {file.name: read_safetensors(InputFile(file))[0] for file in weights_files(path)}
    tensors: Tensors = {}
    for name, file in _index(path).items():
        if name not in held[file]:
            raise InvalidFileError(f"{path} says that '{name}' is in {file}, where it is not")
        tensors[name] = held[file][name]
    return tensors


def _index(path: Path) -> dict[str, str]:
    """The file of each tensor."""
    named = read_json(path).get("weight_map")
    if not isinstance(named, dict) or not named:
        raise InvalidFileError(f"{path} does not say which file holds which weight")
    for file in named.values():
        if Path(str(file)).name != file or not file.endswith(".safetensors"):
            raise InvalidFileError(
                f"{path} names '{file}', which is no safetensors file in its folder"
            )
    return named


@cache
def sha256_of(path: Path) -> str:
    """What tells these weights from all others."""
    if path.name == INDEX:
        each = "".join(sha256_of(file) for file in weights_files(path))
        return hashlib.sha256(each.encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_weights(path: Path, config: Config) -> Weights:
    """Every weight that the model needs, under our names.

    The tables are large and mapped: what is wrong with a row of theirs shows when it is used.
    """
    tensors = _without_prefix(open_weights(path))
    weights: Weights = {}
    for ours, (theirs, shape) in _expected(config).items():
        if theirs not in tensors:
            raise InvalidFileError(f"{path} lacks '{theirs}', which config.json beside it asks for")
        found = tensors[theirs]
        if found.shape != shape or found.dtype.kind != "f":
            raise InvalidFileError(
                f"{path}: '{theirs}' is {found.dtype} of shape {found.shape}, but config.json"
                f" beside it asks for numbers of shape {shape}"
            )
        weights[ours] = found.astype(np.float32, copy=False)
        if ours not in TABLES and not is_finite(weights[ours]):
            raise InvalidFileError(f"{path}: '{theirs}' holds NaN or infinity: get the model again")
    return weights


def is_finite(numbers: Float32Array) -> bool:
    """Whether there is neither NaN nor infinity; the sum alone says so, unless it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(numbers.sum())) or bool(np.isfinite(numbers).all())


def _without_prefix(tensors: Tensors) -> Tensors:
    named: Tensors = {}
    for name, tensor in tensors.items():
        prefix = next((prefix for prefix in PREFIXES if name.startswith(prefix)), "")
        short = name.removeprefix(prefix)
        for old, new in OLD_ENDINGS.items():
            short = short.removesuffix(old) + new if short.endswith(old) else short
        named[short] = tensor
    return named


def _expected(config: Config) -> Expected:
    dim, inner, width = config.dim, config.inner, config.embedding
    entries = {
        "words": config.vocabulary,
        "positions": config.places + config.skipped,
        "segments": config.segments,
    }
    expected: Expected = {
        ours: (TABLES[ours], (count, width)) for ours, count in entries.items() if count
    }
    if config.buckets:
        expected["distances"] = (TABLES["distances"], (config.buckets, config.heads))
    pairs: Expected = {"table_norm": (BESIDE["table_norm"], (width,))}
    if width != dim:
        pairs["project"] = (BESIDE["project"], (dim, width))
    shapes = {"attended_norm": (dim,), "outer_norm": (dim,), "inner": (inner, dim),
              "outer": (dim, inner)}  # fmt: skip
    for layer in range(config.layers):
        for role, name in LAYERS.get(config.family, BERT).items():
            pairs[f"layer.{layer}.{role}"] = (name.format(layer), shapes.get(role, (dim, dim)))
    for ours, (theirs, shape) in pairs.items():
        expected[f"{ours}.weight"] = (f"{theirs}.weight", shape)
        expected[f"{ours}.bias"] = (f"{theirs}.bias", shape[:1])
    return expected
