"""The model of a command without --model: chosen by the texts, and reported."""

from collections.abc import Iterable
from pathlib import Path

from malmoi.encode.checkpoint.locate import UNIVERSAL
from malmoi.encode.loading import ENGLISH, default_model
from malmoi.errors import warn
from malmoi.search.storage.folder import Folder


def model_for(texts: Iterable[str], *, layers: bool = False) -> str:
    """`use` for Korean, else `minilm`; `use` has no layers, and is not chosen where they matter."""
    model = ENGLISH if layers else default_model(texts)
    why = "which reads Korean" if model == UNIVERSAL else "which reads English"
    warn(f"no model is named: this is {model}, {why}; --model names another")
    return model


def model_of_index(path: Path) -> str | None:
    """The model that an index was made with, if there is one."""
    folder = Folder(path)
    return folder.read().model if folder.exists else None
