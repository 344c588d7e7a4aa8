"""Reads a model's weights under one set of names for all families, and checks their shapes.

    word_embeddings, position_embeddings, token_type_embeddings   [rows, embedding size]
    relative_position_bias                  [buckets, heads], MPNet only
    embedding_norm, embedding_projection    the projection only if the embeddings are smaller
    layer.N.query, key, value               attention [dim, dim]
    layer.N.attn_out, attn_norm             after attention
    layer.N.ffn_up, ffn_down, ffn_norm      the feed-forward network

All but the embeddings and the bias are pairs `.weight` and `.bias`; matrices are [out, in].
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
Expected = dict[str, tuple[str, tuple[int, ...]]]  # our name: the name in the file, its shape

TABLES = {
    "word_embeddings": "embeddings.word_embeddings.weight",
    "position_embeddings": "embeddings.position_embeddings.weight",
    "token_type_embeddings": "embeddings.token_type_embeddings.weight",
    "relative_position_bias": "encoder.relative_attention_bias.weight",
}
EMBEDDING_LAYERS = {
    "embedding_norm": "embeddings.LayerNorm",
    "embedding_projection": "embeddings_project",
}
BERT = {
    "query": "encoder.layer.{}.attention.self.query",
    "key": "encoder.layer.{}.attention.self.key",
    "value": "encoder.layer.{}.attention.self.value",
    "attn_out": "encoder.layer.{}.attention.output.dense",
    "attn_norm": "encoder.layer.{}.attention.output.LayerNorm",
    "ffn_up": "encoder.layer.{}.intermediate.dense",
    "ffn_down": "encoder.layer.{}.output.dense",
    "ffn_norm": "encoder.layer.{}.output.LayerNorm",
}
DISTILBERT = {
    "query": "transformer.layer.{}.attention.q_lin",
    "key": "transformer.layer.{}.attention.k_lin",
    "value": "transformer.layer.{}.attention.v_lin",
    "attn_out": "transformer.layer.{}.attention.out_lin",
    "attn_norm": "transformer.layer.{}.sa_layer_norm",
    "ffn_up": "transformer.layer.{}.ffn.lin1",
    "ffn_down": "transformer.layer.{}.ffn.lin2",
    "ffn_norm": "transformer.layer.{}.output_layer_norm",
}
MPNET = BERT | {
    "query": "encoder.layer.{}.attention.attn.q",
    "key": "encoder.layer.{}.attention.attn.k",
    "value": "encoder.layer.{}.attention.attn.v",
    "attn_out": "encoder.layer.{}.attention.attn.o",
    "attn_norm": "encoder.layer.{}.attention.LayerNorm",
}
LAYER_NAMES = {"distilbert": DISTILBERT, "mpnet": MPNET}  # all other families use BERT's
# Prefixes of models saved with a head, and suffixes of models converted from TensorFlow.
PREFIXES = ("bert.", "distilbert.", "electra.", "mpnet.", "roberta.")
TENSORFLOW_SUFFIXES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
FILE = "model.safetensors"
INDEX = f"{FILE}.index.json"  # maps tensors to files, if there are several
PICKLE = "pytorch_model.bin"
UNSUPPORTED = (PICKLE, f"{PICKLE}.index.json", "tf_model.h5", "flax_model.msgpack")


def weights_file(folder: Path) -> Path:
    """The path of the weights, or of the index of their files.

    Raises:
        InvalidFileError: There are none, or only in a format that is not supported.
    """
    for name in (FILE, INDEX):
        if (folder / name).is_file():
            return folder / name
    for name in UNSUPPORTED:
        if not (folder / name).is_file():
            continue
        if name.startswith(PICKLE):
            raise InvalidFileError(
                f"{folder / name} is a pickle, which can execute any code when it is opened:"
                f" run 'malmoi convert {folder} NEW_FOLDER', which reads only the weights"
            )
        raise InvalidFileError(f"{folder / name} is not supported: save the model as {FILE}")
    raise InvalidFileError(f"{folder} has no {FILE}: it is not a model folder")


def weights_files(path: Path) -> list[Path]:
    """The files with weights: the file itself, or those that an index names."""
    if path.name != INDEX:
        return [path]
    return sorted({path.with_name(name) for name in _index(path).values()})


def open_weights(path: Path) -> Tensors:
    """All tensors of a weight file, or of the files that an index names."""
    if path.name != INDEX:
        return read_safetensors(InputFile(path))[0]
    by_file = {file.name: read_safetensors(InputFile(file))[0] for file in weights_files(path)}
    tensors: Tensors = {}
    for name, file in _index(path).items():
        if name not in by_file[file]:
            raise InvalidFileError(f"{path} lists '{name}' in {file}, which does not contain it")
        tensors[name] = by_file[file][name]
    return tensors


def _index(path: Path) -> dict[str, str]:
    """The file of each tensor."""
    weight_map = read_json(path).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise InvalidFileError(f"{path} has no weight_map from tensors to files")
    for file in weight_map.values():
        if Path(str(file)).name != file or not file.endswith(".safetensors"):
            raise InvalidFileError(
                f"{path} names '{file}', which is not a safetensors file in its folder"
            )
    return weight_map


@cache
def sha256_of(path: Path) -> str:
    """The SHA-256 of the weights."""
    if path.name == INDEX:
        each = "".join(sha256_of(file) for file in weights_files(path))
        return hashlib.sha256(each.encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_weights(path: Path, config: Config) -> Weights:
    """All weights that the model needs, under our names.

    The embeddings are large and memory-mapped: their values are checked when they are used.
    """
    tensors = _without_prefix(open_weights(path))
    weights: Weights = {}
    for ours, (theirs, shape) in _expected(config).items():
        if theirs not in tensors:
            raise InvalidFileError(f"{path} lacks '{theirs}', which its config.json requires")
        tensor = tensors[theirs]
        if tensor.shape != shape or tensor.dtype.kind != "f":
            raise InvalidFileError(
                f"{path}: '{theirs}' is {tensor.dtype} of shape {tensor.shape}, but its config.json"
                f" requires floats of shape {shape}"
            )
        weights[ours] = tensor.astype(np.float32, copy=False)
        if ours not in TABLES and not is_finite(weights[ours]):
            raise InvalidFileError(
                f"{path}: '{theirs}' contains NaN or infinity: download the model again"
            )
    return weights


def replace_weights(
    path: Path, config: Config, weights: Weights, others: Tensors | None = None
) -> Tensors:
    """All tensors of a weight file under the names they have there, with other values.

    `others` are tensors that an encoder does not need, such as those of a head, by `short_name`.
    """
    values: Tensors = {theirs: weights[ours] for ours, (theirs, _) in _expected(config).items()}
    values |= others or {}
    tensors = open_weights(path)
    return {name: values.get(short_name(name), tensor) for name, tensor in tensors.items()}


def combined_positions(weights: Weights, config: Config) -> Float32Array:
    """Position plus segment embeddings, [segments · positions, embedding size]."""
    positions = weights["position_embeddings"][config.skipped_positions :]
    no_segments = np.zeros((1, config.embedding_size), np.float32)
    segments = weights.get("token_type_embeddings", no_segments)
    return (segments[:, np.newaxis] + positions).reshape(-1, config.embedding_size)


def is_finite(numbers: Float32Array) -> bool:
    """Whether no value is NaN or infinite; a finite sum is enough to know."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(numbers.sum())) or bool(np.isfinite(numbers).all())


def _without_prefix(tensors: Tensors) -> Tensors:
    return {short_name(name): tensor for name, tensor in tensors.items()}


def short_name(name: str) -> str:
    """A name without the prefix of a model with a head, and with torch's suffixes."""
    prefix = next((prefix for prefix in PREFIXES if name.startswith(prefix)), "")
    short = name.removeprefix(prefix)
    for old, new in TENSORFLOW_SUFFIXES.items():
        short = short.removesuffix(old) + new if short.endswith(old) else short
    return short


def _expected(config: Config) -> Expected:
    dim, ffn_size, width = config.dim, config.ffn_size, config.embedding_size
    rows = {
        "word_embeddings": config.vocab_size,
        "position_embeddings": config.position_rows + config.skipped_positions,
        "token_type_embeddings": config.segments,
    }
    expected: Expected = {
        ours: (TABLES[ours], (count, width)) for ours, count in rows.items() if count
    }
    if config.relative_buckets:
        expected["relative_position_bias"] = (
            TABLES["relative_position_bias"],
            (config.relative_buckets, config.heads),
        )
    pairs: Expected = {"embedding_norm": (EMBEDDING_LAYERS["embedding_norm"], (width,))}
    if width != dim:
        pairs["embedding_projection"] = (EMBEDDING_LAYERS["embedding_projection"], (dim, width))
    shapes = {"attn_norm": (dim,), "ffn_norm": (dim,), "ffn_up": (ffn_size, dim),
              "ffn_down": (dim, ffn_size)}  # fmt: skip
    for layer in range(config.layers):
        for role, name in LAYER_NAMES.get(config.family, BERT).items():
            pairs[f"layer.{layer}.{role}"] = (name.format(layer), shapes.get(role, (dim, dim)))
    for ours, (theirs, shape) in pairs.items():
        expected[f"{ours}.weight"] = (f"{theirs}.weight", shape)
        expected[f"{ours}.bias"] = (f"{theirs}.bias", shape[:1])
    return expected
