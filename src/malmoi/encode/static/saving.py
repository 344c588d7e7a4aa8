"""Writes a static encoder as one folder that malmoi, model2vec and sentence-transformers load.

model2vec reads config.json, model.safetensors (`embeddings`) and tokenizer.json;
sentence-transformers finds the same table by modules.json. Weights of tokens are in the lengths
of their rows. The row of the unknown token is 0, because model2vec leaves that token out.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.convert import METADATA, folder_beside
from malmoi.encode.checkpoint.static_folder import (
    MODEL2VEC_TABLE,
    MODEL_TYPE,
    MODULE,
    TOKENIZER,
    read_static_folder,
)
from malmoi.encode.checkpoint.weights import FILE
from malmoi.encode.tokens.tokenizer import UNKNOWN_TOKENS
from malmoi.files.tensors import write_safetensors

TYPES = "sentence_transformers.models"


def save_static(
    target: Path,
    table: Float32Array,
    tokenizer: Any,
    *,
    card: str = "",
    normalize: bool = True,
    max_length: int | None = None,
) -> None:
    """Write a folder, which is complete or does not exist.

    Args:
        target: The folder to write.
        table: The vectors of all tokens, [tokens, dim].
        tokenizer: A `tokenizers.Tokenizer`.
        card: The text of README.md.
        normalize: Whether vectors of texts have length 1.
        max_length: The tokens of a text that are read; None for all.

    Raises:
        InvalidFileError: The folder exists or cannot be written.
    """
    rows = np.array(table, np.float32)
    unknown = [tokenizer.token_to_id(token) for token in UNKNOWN_TOKENS]
    rows[[token_id for token_id in unknown if token_id is not None]] = 0
    modules = [(MODULE, "."), ("Normalize", "1_Normalize")][: 1 + normalize]
    files: dict[str, Any] = {
        "config.json": {
            "model_type": MODEL_TYPE,
            "architectures": ["StaticModel"],
            "normalize": normalize,
            "max_length": max_length,
            "hidden_dim": int(table.shape[1]),
            "embedding_dtype": "float32",
        },
        "modules.json": [
            {"idx": i, "name": str(i), "path": path, "type": f"{TYPES}.{kind}"}
            for i, (kind, path) in enumerate(modules)
        ],
    }
    with folder_beside(target) as part:
        for name, value in files.items():
            (part / name).write_text(json.dumps(value, indent=2), encoding="utf-8")
        (part / TOKENIZER).write_text(tokenizer.to_str(), encoding="utf-8")
        write_safetensors(part / FILE, {MODEL2VEC_TABLE: rows}, METADATA)
        if card:
            (part / "README.md").write_text(card, encoding="utf-8")


def convert_static(folder: Path, target: Path) -> int:
    """Write any folder of a static encoder as `save_static` does; returns the number of rows."""
    parts = read_static_folder(folder)
    save_static(
        target,
        parts.table[: parts.tokenizer.get_vocab_size()],
        parts.tokenizer,
        normalize=parts.normalize,
        max_length=parts.max_length,
    )
    return int(parts.tokenizer.get_vocab_size())
