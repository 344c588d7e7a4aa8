"""Saves a tuned network as a sentence-transformers folder, which is complete or does not exist."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malmoi.encode.checkpoint.config import read_json
from malmoi.encode.checkpoint.convert import METADATA, folder_beside, needed_files
from malmoi.encode.checkpoint.locate import find_model, split_precision
from malmoi.encode.checkpoint.sentence_transformers import module_folders
from malmoi.encode.checkpoint.weights import FILE, INDEX, replace_weights, weights_file
from malmoi.encode.encoder import TransformerEncoder
from malmoi.errors import InvalidFileError
from malmoi.files.checkpoint import checkpoint_path
from malmoi.files.targets import check_writable
from malmoi.files.tensors import Tensors, write_safetensors

if TYPE_CHECKING:
    from malmoi.tune.network.sentence_network import SentenceNetwork

TYPES = "sentence_transformers.models"
POOLING = "1_Pooling"
CARD = "README.md"
SENTENCE_CONFIG = "sentence_bert_config.json"


def check_target(folder: Path) -> None:
    """Raise `InvalidFileError` if the folder exists already or cannot be created."""
    if folder.exists():
        raise InvalidFileError(f"{folder} exists already: choose another name")
    check_writable(folder)


def is_saved(folder: Path, holds: str = CARD) -> bool:
    """Whether a run has saved its folder: what a killed run has left beside it is not needed.

    A complete folder `holds` a file of this name; a checkpoint that is newer is of another run.
    """
    saved, checkpoint = folder / holds, checkpoint_path(folder)
    if not saved.is_file():
        return False
    return not checkpoint.exists() or checkpoint.stat().st_mtime_ns <= saved.stat().st_mtime_ns


def save_tuned(
    encoder: TransformerEncoder,
    network: "SentenceNetwork",
    folder: Path,
    card: str,
    others: Tensors | None = None,
) -> None:
    """Write a folder with the files of the untuned model, other weights and a model card.

    `others` are tensors that an encoder does not need; those that the file has are replaced.

    Raises:
        InvalidFileError: The folder exists or cannot be written.
    """
    with copied_model(encoder, folder) as (part, own):
        transformer = encoder.modules.transformer
        weights = network.weights()
        tensors = replace_weights(weights_file(transformer), encoder.config, weights, others)
        write_safetensors(own / FILE, dict(tensors), METADATA)
        _set_float32(own / "config.json")
        source = model_folder(encoder)
        if (source / "modules.json").is_file():
            _write_dense(source, part, network)
            known = sorted(own.glob("sentence_*_config.json"))
            _set_max_length([*known, own / SENTENCE_CONFIG][0], encoder.modules.max_length)
        (part / CARD).write_text(card, encoding="utf-8")


@contextmanager
def copied_model(encoder: TransformerEncoder, target: Path) -> Iterator[tuple[Path, Path]]:
    """A sentence-transformers folder with all files of an encoder but weights and model card.

    Yields the folder, and the one in it for the transformer's weights; it becomes `target` unless
    there is an exception.

    Raises:
        InvalidFileError: The target exists or cannot be written.
    """
    source = model_folder(encoder)
    with folder_beside(target) as part:
        for path in needed_files(source):
            if path.suffix != ".safetensors" and path.name != INDEX:
                copy = part / path.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
        if not (source / "modules.json").is_file():
            _write_modules(part, encoder)
        yield part, part / encoder.modules.transformer.relative_to(source)


def model_folder(encoder: TransformerEncoder) -> Path:
    """The folder that an encoder was loaded from."""
    name, _ = split_precision(encoder.name)
    return find_model(name)


def _write_dense(source: Path, part: Path, network: "SentenceNetwork") -> None:
    """The weights of dense layers after the pooling; a layer without bias keeps none."""
    folders = [path for kind, path in module_folders(source) if kind == "Dense"]
    for path, layer in zip(folders, network.head.dense, strict=True):
        weights = {f"linear.{name}": w.detach().numpy() for name, w in layer.named_parameters()}
        if not read_json(path / "config.json").get("bias", True):
            del weights["linear.bias"]
        write_safetensors(part / path.relative_to(source) / FILE, dict(weights), METADATA)


def _write_modules(part: Path, encoder: TransformerEncoder) -> None:
    """The files of sentence-transformers for a model that has none: its pooling is the mean."""
    (part / POOLING).mkdir()
    modules = [("Transformer", ""), ("Pooling", POOLING)]
    pooling = {
        "word_embedding_dimension": encoder.config.dim,
        "pooling_mode_cls_token": False,
        "pooling_mode_mean_tokens": True,
        "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": False,
    }
    files: dict[str, Any] = {
        "modules.json": [
            {"idx": i, "name": str(i), "path": path, "type": f"{TYPES}.{kind}"}
            for i, (kind, path) in enumerate(modules)
        ],
        f"{POOLING}/config.json": pooling,
        SENTENCE_CONFIG: {
            "max_seq_length": encoder.tokenizer.max_length,
            "do_lower_case": encoder.tokenizer.lowercase,
        },
    }
    for name, value in files.items():
        (part / name).write_text(json.dumps(value, indent=2), encoding="utf-8")


def _set_max_length(path: Path, max_length: int | None) -> None:
    """The maximum length of a text, which may be another than before."""
    values = read_json(path) if path.is_file() else {}
    if max_length is not None and values.get("max_seq_length") != max_length:
        text = json.dumps(values | {"max_seq_length": max_length}, indent=2)
        path.write_text(text, encoding="utf-8")


def _set_float32(path: Path) -> None:
    """The weights are float32 now, whatever those of the untuned model were."""
    values = read_json(path)
    changed = {name: "float32" for name in ("dtype", "torch_dtype") if name in values}
    if changed:
        text = json.dumps(values | changed, indent=2, ensure_ascii=False)
        path.write_text(text, encoding="utf-8")
