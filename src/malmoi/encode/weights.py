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

from malmoi.encode.config import Config
from malmoi.errors import BadFile
from malmoi.files.source import Source
from malmoi.files.tensors import Tensors, open_tensors
from malmoi.vectors import Matrix

Weights = dict[str, Matrix]
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
REFUSED = ("pytorch_model.bin", "tf_model.h5", "flax_model.msgpack", f"{FILE}.index.json")


def weights_file(folder: Path) -> Path:
    """Where the weights are; other kinds of files are refused by name."""
    if (folder / FILE).is_file():
        return folder / FILE
    for name in REFUSED:
        if not (folder / name).is_file():
            continue
        if name == "pytorch_model.bin":
            why = "is a pickle, which may run any program: convert it to safetensors first"
        else:
            why = f"cannot be read: save the model as one {FILE}"
        raise BadFile(f"{folder / name} {why}")
    raise BadFile(f"{folder} has no {FILE}: it is no folder of a model")


@cache
def sha256_of(path: Path) -> str:
    """What tells these weights from all others."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_weights(path: Path, config: Config) -> Weights:
    """Every weight that the model needs, under our names."""
    tensors = _without_prefix(open_tensors(Source(path))[0])
    weights: Weights = {}
    for ours, (theirs, shape) in _expected(config).items():
        if theirs not in tensors:
            raise BadFile(f"{path} lacks '{theirs}', which config.json beside it asks for")
        found = tensors[theirs]
        if found.shape != shape or found.dtype.kind != "f":
            raise BadFile(
                f"{path}: '{theirs}' is {found.dtype} of shape {found.shape}, but config.json"
                f" beside it asks for numbers of shape {shape}"
            )
        weights[ours] = found.astype(np.float32, copy=False)
    return weights


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
        "positions": config.positions + config.skipped,
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
