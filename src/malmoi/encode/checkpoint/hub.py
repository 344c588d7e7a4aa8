"""Models from the hub: what is needed of one, downloaded once, kept, and checked."""

import re
from pathlib import Path
from typing import Any

from malmoi.encode.checkpoint.weights import PICKLE, sha256_of
from malmoi.errors import InvalidFileError
from malmoi.extras import require

WANTED = ("*.json", "*.safetensors", "*.txt", "*.model")
NOT_NEEDED = ("onnx/*", "*/onnx/*", "openvino/*", "*/openvino/*", "coreml/*", "*.bin.index.json")
SHA256 = re.compile("[0-9a-f]{64}")


def download_model(name: str, revision: str | None) -> Path:
    """The folder of a model, downloaded, or found where it was kept."""
    hub = require("huggingface_hub", extra="hub")
    try:
        folder = Path(
            hub.snapshot_download(
                name,
                revision=revision,
                allow_patterns=list(WANTED),
                ignore_patterns=list(NOT_NEEDED),
            )
        )
    except Exception as error:  # it lets errors of the libraries below it through
        raise InvalidFileError(_reason(hub, name, revision, error)) from error
    weights = sorted(folder.rglob("*.safetensors"))
    if not weights:
        raise InvalidFileError(
            f"{name} has no safetensors on the hub: if it has a {PICKLE}, download it"
            f" (hf download {name} --local-dir FOLDER) and malmoi convert FOLDER NEW_FOLDER"
        )
    for path in weights:
        _check(path)
    return folder


def _check(path: Path) -> None:
    """The hub keeps a large file under its SHA-256: the bytes must be what the name says."""
    kept = path.resolve()
    if SHA256.fullmatch(kept.name) and sha256_of(path) != kept.name:
        raise InvalidFileError(
            f"{path} is not what the hub has: delete {kept} and download it again"
        )


def _reason(hub: Any, name: str, revision: str | None, error: Exception) -> str:
    """Why there is no such model, and what to do."""
    errors = hub.errors
    begin = f"there is no folder {name}, and it cannot be had from the hub"
    if isinstance(error, errors.RevisionNotFoundError):
        return f"{begin}: it is there, but has no revision '{revision}'"
    if isinstance(error, errors.RepositoryNotFoundError | errors.HFValidationError):
        return f"{begin}: it has no such model, or shows it only to those who log in"
    if hub.constants.HF_HUB_OFFLINE:
        return (
            f"{begin}: HF_HUB_OFFLINE is set and no copy of it is kept, so unset it once to"
            " download, or copy the model's folder here and give its path"
        )
    return (
        f"{begin} ({type(error).__name__}): see that the network is there, or copy the model's"
        " folder here and give its path"
    )
