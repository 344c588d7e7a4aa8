"""N-gram models from and to files: ARPA to exchange them, our own to open them at once.

Our own is a safetensors file. Tensors: the words as `key_bytes` u8 and `key_offsets` i64, with
`key_hashes` u64 ascending and `key_rows` u32 to find one; for each order m `ngrams_m` u64 (not
for order 1), `probabilities_m` f64 and `backoffs_m` f64 (not for the highest). The header's
`__metadata__` holds `malmoi` (the version), `kind`, `order` and, where there is one, `unseen`.
"""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy.typing as npt

from malmoi.errors import BadFile
from malmoi.files.output import written
from malmoi.files.source import Source
from malmoi.files.tensors import (
    WRONG,
    Tensors,
    damaged,
    keys_as_tensors,
    keys_from_tensors,
    open_tensors,
    write_tensors,
)
from malmoi.models.arpa import read_arpa
from malmoi.models.arpa_output import write_arpa
from malmoi.models.ngram import NgramModel
from malmoi.models.trie import Trie

KIND, VERSION = "ngram", "1"


def save_ngram(model: NgramModel, path: str | PathLike[str]) -> None:
    """Write a model: ARPA if the name ends in .arpa or .arpa.gz, our own file otherwise.

    The file is whole or not there.
    """
    place = Path(path)
    if place.name.endswith((".arpa", ".arpa.gz")):
        with written(place) as [stream]:
            write_arpa(model, stream)
    else:
        write_tensor_file(model, place)


def load_ngram(path: str | PathLike[str]) -> NgramModel:
    """Open a model: our own file, or an ARPA file by whomever, zipped or not."""
    source = Source(Path(path))
    if is_our_own(source):
        return read_tensor_file(source)
    return read_arpa(lines_of(source), str(path))


def is_our_own(source: Source) -> bool:
    """Whether a file begins as ours do, with a header of JSON; zipped ones are refused."""
    ours = source.head[8:9] == b"{"
    if ours and source.compressed:
        raise BadFile(f"{source.path} is zipped; gunzip it: our own file is opened in place")
    return ours


def lines_of(source: Source) -> Iterator[bytes]:
    """The lines of a file, without their ends."""
    carried = b""
    for block, _ in source.blocks():
        *lines, carried = (carried + block.tobytes()).split(b"\n")
        yield from lines
    if carried:
        yield carried


def write_tensor_file(model: NgramModel, path: Path) -> None:
    """All arrays of the model."""
    tensors = keys_as_tensors(model.trie.words)
    tensors |= {f"ngrams_{m}": packed for m, packed in enumerate(model.trie.packed, 2)}
    tensors |= {f"probabilities_{m}": found for m, found in enumerate(model.probabilities, 1)}
    tensors |= {f"backoffs_{m}": weights for m, weights in enumerate(model.backoffs, 1)}
    said = {"malmoi": VERSION, "kind": KIND, "order": str(model.order)}
    if model.unseen is not None:
        said["unseen"] = repr(model.unseen)
    write_tensors(path, tensors, said)


def read_tensor_file(source: Source) -> NgramModel:
    """The model whose arrays these are, memory-mapped."""
    tensors, said = open_tensors(source)
    if said.get("kind") != KIND or said.get("malmoi") != VERSION:
        raise BadFile(f"{source.path} holds no n-gram model that this malmoi reads")
    try:
        order = int(said["order"])
        return NgramModel(
            Trie(keys_from_tensors(tensors), several(tensors, "ngrams", 2, order)),
            several(tensors, "probabilities", 1, order),
            several(tensors, "backoffs", 1, order - 1),
            float(said["unseen"]) if "unseen" in said else None,
        )
    except WRONG as error:
        raise damaged(source.path, error) from error


def several(tensors: Tensors, name: str, first: int, last: int) -> tuple[npt.NDArray[Any], ...]:
    """The arrays of this name for each order."""
    return tuple(tensors[f"{name}_{order}"] for order in range(first, last + 1))
