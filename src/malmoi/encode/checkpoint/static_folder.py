"""Recognizes folders of static encoders and reads their parts: a table of vectors and a tokenizer.

model2vec                one folder: config.json with model_type "model2vec", tokenizer.json and
                         model.safetensors with `embeddings`, perhaps `weights` and `mapping`
sentence-transformers    modules.json with a StaticEmbedding, maybe followed by Normalize; in the
                         folder of the module `embedding.weight` and tokenizer.json

The row of token t is embeddings[mapping[t]] · weights[t]. model2vec leaves unknown tokens out and
reads `max_length` tokens of a text, sentence-transformers neither.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.config import read_json
from malmoi.encode.checkpoint.sentence_transformers import module_folders
from malmoi.encode.checkpoint.weights import is_finite, open_weights, weights_file
from malmoi.errors import InvalidFileError
from malmoi.extras import require
from malmoi.files.tensors import Tensors

MODULE = "StaticEmbedding"
MODEL_TYPE = "model2vec"
TOKENIZER = "tokenizer.json"
MODEL2VEC_TABLE, SENTENCE_TRANSFORMERS_TABLE = "embeddings", "embedding.weight"
DEFAULT_MAX_LENGTH = 512  # of model2vec


@dataclass(frozen=True, kw_only=True, eq=False)
class StaticParts:
    """What a folder holds: `table` [tokens, dim] and `tokenizer`, a `tokenizers.Tokenizer`."""

    folder: Path
    table: Float32Array
    tokenizer: Any
    normalize: bool
    skips_unknown: bool
    max_length: int | None


def is_static_folder(folder: Path) -> bool:
    """Whether this is the folder of a static encoder of model2vec or sentence-transformers."""
    if (folder / "modules.json").is_file():
        return [kind for kind, _ in module_folders(folder)][:1] == [MODULE]
    path = folder / "config.json"
    return path.is_file() and read_json(path).get("model_type") == MODEL_TYPE


def read_static_folder(folder: Path) -> StaticParts:
    """Read and check all parts of a static encoder.

    Raises:
        InvalidFileError: A file is missing or damaged, or they do not fit each other.
    """
    has_modules = (folder / "modules.json").is_file()
    modules = module_folders(folder) if has_modules else [(MODULE, folder)]
    kinds = [kind for kind, _ in modules]
    if kinds not in ([MODULE], [MODULE, "Normalize"]):
        raise InvalidFileError(
            f"{folder / 'modules.json'} has the modules {kinds}: after {MODULE} only Normalize is"
            " supported"
        )
    home = modules[0][1]
    config = _config(home)
    tensors, is_model2vec = open_weights(weights_file(home)), config is not None
    tokenizer = read_tokenizer(home / TOKENIZER)
    table = _table(home, tensors, tokenizer.get_vocab_size())
    normalize = "Normalize" in kinds or bool((config or {}).get("normalize"))
    return StaticParts(
        folder=home,
        table=table[:, : _truncate_dim(folder)],
        tokenizer=tokenizer,
        normalize=normalize,
        skips_unknown=is_model2vec,
        max_length=_max_length(home, config),
    )


def read_tokenizer(path: Path) -> Any:
    """The tokenizer of a tokenizer.json, without padding and truncation."""
    if not path.is_file():
        raise InvalidFileError(f"there is no {path}, which is needed to tokenize texts")
    tokenizers = require("tokenizers", extra="bert")
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers has no exception type of its own
        raise InvalidFileError(f"{path} is not a tokenizer: {error}") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _config(home: Path) -> dict[str, Any] | None:
    """The config.json of model2vec, if there is one."""
    path = home / "config.json"
    config = read_json(path) if path.is_file() else {}
    return config if config.get("model_type") == MODEL_TYPE else None


def _table(home: Path, tensors: Tensors, tokens: int) -> Float32Array:
    """The rows of all tokens, with their weights."""
    name = next((n for n in (SENTENCE_TRANSFORMERS_TABLE, MODEL2VEC_TABLE) if n in tensors), None)
    if name is None:
        raise InvalidFileError(
            f"{home} has no tensor {MODEL2VEC_TABLE} or {SENTENCE_TRANSFORMERS_TABLE}"
        )
    table, mapping, weights = tensors[name], tensors.get("mapping"), tensors.get("weights")
    if mapping is not None:
        if mapping.size and not (int(mapping.min()) >= 0 and int(mapping.max()) < len(table)):
            raise InvalidFileError(f"{home}: its mapping refers to rows that do not exist")
        table = table[mapping]
    if table.ndim != 2 or table.shape[1] < 1 or table.dtype.kind not in "fi":
        raise InvalidFileError(f"{home}: '{name}' is not a matrix [tokens, dim] of numbers")
    rows: Float32Array = table.astype(np.float32, copy=False)
    if weights is not None:
        if weights.shape != (len(rows),):
            raise InvalidFileError(f"{home} has {len(rows):,} rows, but weights {weights.shape}")
        rows = rows * weights.astype(np.float32)[:, np.newaxis]
    if len(rows) < tokens:
        raise InvalidFileError(
            f"{home}: its tokenizer has {tokens:,} tokens, but its table {len(rows):,} rows: they"
            " do not belong together"
        )
    if not is_finite(rows):
        raise InvalidFileError(f"{home}: its table contains NaN or infinity: write it again")
    return rows


def _max_length(home: Path, config: dict[str, Any] | None) -> int | None:
    limit = None if config is None else config.get("max_length", DEFAULT_MAX_LENGTH)
    if limit is not None and not (isinstance(limit, int) and limit > 0):
        raise InvalidFileError(f"{home / 'config.json'}: max_length {limit!r} is not above 0")
    return limit


def _truncate_dim(folder: Path) -> int | None:
    path = folder / "config_sentence_transformers.json"
    dim = read_json(path).get("truncate_dim") if path.is_file() else None
    if dim is not None and not (isinstance(dim, int) and dim > 0):
        raise InvalidFileError(f"{path}: truncate_dim {dim!r} is not a positive integer")
    return dim
