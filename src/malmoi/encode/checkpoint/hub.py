"""Downloads models from the Hugging Face Hub into its cache, and checks them."""

import re
from pathlib import Path
from typing import Any

from malmoi.encode.checkpoint.weights import PICKLE, sha256_of
from malmoi.errors import InvalidFileError
from malmoi.extras import require

NEEDED_FILES = ("*.json", "*.safetensors", "*.txt", "*.model")
IGNORED_FILES = ("onnx/*", "*/onnx/*", "openvino/*", "*/openvino/*", "coreml/*", "*.bin.index.json")
SHA256 = re.compile("[0-9a-f]{64}")


def download_model(name: str, revision: str | None) -> Path:
    """The folder of a model in the Hub's cache; downloads it if necessary."""
    hub = require("huggingface_hub", extra="hub")
    try:
        folder = Path(
            hub.snapshot_download(
                name,
                revision=revision,
                allow_patterns=list(NEEDED_FILES),
                ignore_patterns=list(IGNORED_FILES),
            )
        )
    except Exception as error:  # it passes on errors of the libraries below it
        raise InvalidFileError(_reason(hub, name, revision, error)) from error
    weights = sorted(folder.rglob("*.safetensors"))
    if not weights:
        raise InvalidFileError(
            f"{name} has no safetensors on the Hub: if it has a {PICKLE}, download it"
            f" (hf download {name} --local-dir FOLDER) and malmoi convert FOLDER NEW_FOLDER"
        )
    for path in weights:
        _check(path)
    return folder


def _check(path: Path) -> None:
    """The Hub's cache names a large file by its SHA-256, which its content must have."""
    cached = path.resolve()
    if SHA256.fullmatch(cached.name) and sha256_of(path) != cached.name:
        raise InvalidFileError(
            f"{path} is damaged, its SHA-256 is not that on the Hub: delete {cached} and download"
            " it again"
        )


def _reason(hub: Any, name: str, revision: str | None, error: Exception) -> str:
    """Why the model cannot be downloaded, and what to do."""
    errors = hub.errors
    begin = f"there is no folder {name}, and it cannot be downloaded from the Hub"
    if isinstance(error, errors.RevisionNotFoundError):
        return f"{begin}: the model exists, but has no revision '{revision}'"
    if isinstance(error, errors.RepositoryNotFoundError | errors.HFValidationError):
        return f"{begin}: there is no such model, or it requires a login"
    if hub.constants.HF_HUB_OFFLINE:
        return (
            f"{begin}: HF_HUB_OFFLINE is set and it is not in the cache; unset it once to"
            " download, or copy the model folder here and pass its path"
        )
    return (
        f"{begin} ({type(error).__name__}): check the network, or copy the model"
        " folder here and pass its path"
    )
