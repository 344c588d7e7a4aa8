"""Texts embedded one after the other into records or a file, in bounded memory.

.npy     a row a text, in the order of the texts
.jsonl   a line a text, with its vector, or those of its words or pieces
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

import numpy as np
from numpy.lib import format as npy

from malmoi.encode.activations import Activations, Parts
from malmoi.encode.encoder import ContextualEncoder
from malmoi.encode.pooling import Join
from malmoi.encode.recipes import Recipe
from malmoi.errors import BadSetting
from malmoi.files.output import written
from malmoi.files.progress import Progress, silent

Per = Literal["text", "word", "piece"]
PERS: tuple[Per, ...] = get_args(Per)
ENDINGS = (".npy", ".jsonl")


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What is wanted of each text: one vector, or one a word or a piece.

    `recipe` is the model's own where it is `None`; `join` makes a word of its pieces; `prompt`
    goes before each text, and with words and pieces there is none.
    """

    recipe: Recipe | None = None
    per: Per = "text"
    join: Join = "mean"
    prompt: str | None = None

    def __post_init__(self) -> None:
        if self.per not in PERS:
            raise BadSetting(f"there is no vector per '{self.per}': {', '.join(PERS)} have one")
        if self.prompt is not None and self.per != "text":
            raise BadSetting(f"a prompt goes before texts: there is none per {self.per}")


def embed_records(
    encoder: ContextualEncoder, texts: Sequence[str], wish: Wish
) -> Iterator[dict[str, Any]]:
    """A record a text: `text` and `vector`, or `text` and `words` or `pieces`."""
    if wish.per == "text":
        rows = (row for chunk in encoder.stream(texts, wish.recipe, wish.prompt) for row in chunk)
        for text, row in zip(texts, rows, strict=True):
            yield {"text": text, "vector": row.tolist()}
        return
    recipe = wish.recipe or Recipe()
    for states in encoder.stream_activations(texts, recipe.layers):
        for pieces, parts in zip(states.texts, _parts(states, recipe, wish), strict=True):
            yield {"text": pieces.text, f"{wish.per}s": _records(parts, wish.per)}


def _parts(states: Activations, recipe: Recipe, wish: Wish) -> list[Parts]:
    if wish.per == "word":
        return states.words(recipe, join=wish.join)
    return states.pieces(recipe)


def _records(parts: Parts, name: str) -> list[dict[str, Any]]:
    each = zip(parts.keys, parts.offsets.tolist(), parts.matrix.tolist(), strict=True)
    return [
        {name: key, "begin": begin, "end": end, "vector": vector}
        for key, (begin, end), vector in each
    ]


def write_embeddings(
    encoder: ContextualEncoder,
    texts: Sequence[str],
    path: Path,
    wish: Wish,
    *,
    progress: Progress = silent,
) -> None:
    """Write what is wished for; the file is whole or not there."""
    if path.suffix not in ENDINGS:
        raise BadSetting(f"{path} names no format: end it in {' or '.join(ENDINGS)}")
    if path.suffix == ".npy" and wish.per != "text":
        raise BadSetting(f"{path} has a row a text: write vectors per {wish.per} to a .jsonl")
    with written(path) as (file,):
        if path.suffix == ".npy":
            _write_matrix(file, encoder, texts, wish, progress)
            return
        for done, record in enumerate(embed_records(encoder, texts, wish), start=1):
            file.write(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            progress(done, len(texts))


def _write_matrix(
    file: BinaryIO, encoder: ContextualEncoder, texts: Sequence[str], wish: Wish, progress: Progress
) -> None:
    done, dim = 0, encoder.dim
    for chunk in encoder.stream(texts, wish.recipe, wish.prompt):
        if done == 0:
            dim = chunk.shape[1]
            _write_header(file, len(texts), dim)
        file.write(np.ascontiguousarray(chunk).data)
        done += len(chunk)
        progress(done, len(texts))
    if done == 0:
        _write_header(file, 0, dim)


def _write_header(file: BinaryIO, rows: int, dim: int) -> None:
    said = {"descr": "<f4", "fortran_order": False, "shape": (rows, dim)}
    npy.write_array_header_1_0(file, said)
