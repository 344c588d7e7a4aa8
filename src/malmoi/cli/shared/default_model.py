"""The default model of a command without --model: chosen by the language of the texts."""

from collections.abc import Iterable
from pathlib import Path

from malmoi.encode.checkpoint.locate import UNIVERSAL
from malmoi.encode.loading import ENGLISH, default_model
from malmoi.errors import warn
from malmoi.search.build import index_exists, open_index


def model_for(texts: Iterable[str], *, layers: bool = False) -> str:
    """`use` for Korean, otherwise `minilm`; `use` has no `layers` and is not chosen for them."""
    model = ENGLISH if layers else default_model(texts)
    language = "Korean" if model == UNIVERSAL else "English"
    warn(f"no --model given: using {model}, which reads {language}")
    return model


def model_of_index(path: str | Path) -> str | None:
    """The model of an existing index; None if there is no index."""
    return open_index(path).state.model if index_exists(path) else None
