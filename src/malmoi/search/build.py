"""An index made of texts or of vectors, or opened from its folder."""

from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path

from malmoi.encode.checkpoint.prompts import Prompts
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.search.adding import make_addition
from malmoi.search.analyser import best_analyser
from malmoi.search.entries import make_entries
from malmoi.search.fingerprint import new_state
from malmoi.search.index import Index
from malmoi.search.learn_weight import with_weight
from malmoi.search.storage.clustering import clustered
from malmoi.search.storage.columns import Fields
from malmoi.search.storage.folder import Folder
from malmoi.search.storage.segment import make_segment
from malmoi.search.storage.state import State, with_segment
from malmoi.vectors import Vectors


def build_index(
    encoder: Encoder | Vectors,
    texts: Iterable[str] | None = None,
    *,
    ids: Iterable[str] | None = None,
    fields: Iterable[Fields] | None = None,
    path: str | Path | None = None,
    approximate: bool | None = None,
    passages: bool = True,
    prompts: Prompts | None = None,
    progress: Progress = no_progress,
) -> Index:
    """An index over texts by an encoder, or over the keys of vectors.

    `ids` tell the texts apart (without them they are numbered from 0), `fields` is what is known
    of each, `path` a new folder to keep the index in. More than 100,000 texts are searched
    approximately, if faiss is there (extra `search`); `approximate` says so for any number. What
    is longer than the encoder reads is split into `passages`, or else cut off. `prompts` go before
    texts and queries; without any, those that the encoder's folder names.
    """
    folder = Folder(Path(path)) if path is not None else None
    if folder and folder.exists:
        raise InvalidArgumentError(
            f"there is an index in {path} already: open it, or name a new folder"
        )
    if isinstance(encoder, Vectors):
        if texts is not None:
            raise InvalidArgumentError("the texts of vectors are their keys: give no others")
        keys = list(encoder.keys)
        entries, matrix = make_entries(keys, keys if ids is None else ids, fields), encoder.matrix
        state = State(best_analyser(), encoder.dim)
        if entries:
            state = with_segment(state, make_segment(entries, matrix, state.analyser))
    else:
        entries = make_entries(texts or (), ids, fields)
        state = new_state(encoder, passages=passages, prompts=prompts)
        if entries:
            state = with_weight(make_addition(state, encoder, entries, progress).to(state), encoder)
    state = clustered(state, approximate)
    with folder.writing() if folder else nullcontext():
        state = folder.commit(state) if folder else state
    return Index(state, encoder=None if isinstance(encoder, Vectors) else encoder, folder=folder)


def open_index(path: str | Path, encoder: Encoder | None = None) -> Index:
    """The index in a folder, memory-mapped; `encoder` is for one that cannot be found by name."""
    folder = Folder(Path(path))
    return Index(folder.read(), encoder=encoder, folder=folder)
