"""The folder of an extended model: the files of the model with more tokens and more rows."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.encode.checkpoint.convert import METADATA
from malmoi.encode.checkpoint.sentence_transformers import module_folders
from malmoi.encode.checkpoint.weights import FILE, open_weights, weights_file
from malmoi.encode.encoder import TransformerEncoder
from malmoi.files.tensors import Tensors, write_safetensors
from malmoi.tune.extend.mixture import Mixture
from malmoi.tune.extend.tokenizer_files import write_tokenizer
from malmoi.tune.saving import copied_model, model_folder


@contextmanager
def extended_folder(
    encoder: TransformerEncoder, target: Path, tokenizer: Any, mixture: Mixture
) -> Iterator[Path]:
    """Write an extended model; what is yielded loads, and becomes `target` at the end.

    Raises:
        InvalidFileError: The target exists or cannot be written.
    """
    with copied_model(encoder, target) as (part, own):
        tensors = open_weights(weights_file(encoder.modules.transformer))
        extended = extend_tensors(tensors, encoder.config.vocab_size, mixture)
        write_safetensors(own / FILE, extended, METADATA)
        write_tokenizer(tokenizer, own, encoder.config.family)
        source = model_folder(encoder)
        if (source / "modules.json").is_file():
            _copy_dense(source, part)
        yield part


def extend_tensors(tensors: Tensors, vocab_size: int, mixture: Mixture) -> Tensors:
    """All tensors; those with one row per token get new rows, whatever head they belong to.

    Rows beyond the last known token, which only fill a table up, are dropped.
    """
    return {
        name: (
            np.concatenate([tensor[: mixture.first], mixture.rows(tensor).astype(tensor.dtype)])
            if tensor.shape[:1] == (vocab_size,)
            else tensor
        )
        for name, tensor in tensors.items()
    }


def _copy_dense(source: Path, part: Path) -> None:
    """The weights of dense layers after the pooling, unchanged."""
    for kind, path in module_folders(source):
        if kind == "Dense":
            shutil.copyfile(path / FILE, part / path.relative_to(source) / FILE)
