"""Reads and writes n-gram models: ARPA to exchange them, safetensors to open them instantly.

The tensors of a safetensors file: the words as `key_bytes` u8 and `key_offsets` i64, with
`key_hashes` u64 ascending and `key_rows` u32 to find one; for each order m `ngrams_m` u64 (not
for order 1), `probabilities_m` f64 and `backoffs_m` f64 (not for the highest). The header's
`__metadata__` holds `malmoi` (the version), `kind`, `order` and, for models without back-off,
`unseen`.
"""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arguments import expect, expect_path
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.files.key_tensors import keys_as_tensors, keys_from_tensors
from malmoi.files.output import open_output
from malmoi.files.source import InputFile
from malmoi.files.tensor_file import FileKind, read_tensor_file, write_tensor_file
from malmoi.files.tensors import Tensors, check_tensors, invalid_file_on_error
from malmoi.kernels.counts.count_ngrams import unpack
from malmoi.models.arpa import read_arpa
from malmoi.models.arpa_output import write_arpa
from malmoi.models.ngram_model import NgramModel
from malmoi.models.trie import Trie

KIND = FileKind("ngram", "an n-gram model")
MAX_PROBABILITY = 1 + 1e-6  # tolerates the rounding of sums
MAX_ORDER = 64  # of the model in a file


def save_ngram(model: NgramModel, path: str | PathLike[str]) -> None:
    """Write an n-gram model, atomically.

    Args:
        model: the model.
        path: the file to write: ARPA if the name ends in .arpa or .arpa.gz, else safetensors.

    Raises:
        InvalidArgumentError: an ARPA file cannot hold a word of the model.
        InvalidFileError: the file cannot be written.

    Example:
        mm.save_ngram(mm.train_ngram(["I am Sam", "Sam I am"]), "sam.arpa")
    """
    expect(model, NgramModel, "model", "an n-gram model, as train_ngram returns it")
    path = expect_path(path)
    if path.name.endswith((".arpa", ".arpa.gz")):
        with open_output(path) as [stream]:
            write_arpa(model, stream)
    else:
        write_model(model, path)


def load_ngram(path: str | PathLike[str]) -> NgramModel:
    """Open an n-gram model.

    Args:
        path: a file of `save_ngram`, or an ARPA file of any tool, gzipped or not.

    Returns:
        The model; arrays of a safetensors file are memory-mapped.

    Raises:
        InvalidFileError: the file is missing, damaged or not an n-gram model.

    Example:
        mm.save_ngram(mm.train_ngram(["I am Sam", "Sam I am"]), "sam.ngram")
        model = mm.load_ngram("sam.ngram")
    """
    source = InputFile(expect_path(path))
    if is_safetensors(source):
        return read_model(source)
    return read_arpa(lines_of(source), str(path))


def is_safetensors(source: InputFile) -> bool:
    """Return whether a file begins like a safetensors file; raises if it is gzipped."""
    has_json_header = source.head[8:9] == b"{"
    if has_json_header and source.compressed:
        raise InvalidFileError(
            f"{source.path} is gzipped: decompress it first, a safetensors file is memory-mapped"
        )
    return has_json_header


def lines_of(source: InputFile) -> Iterator[bytes]:
    """Iterate over the lines of a file, without line ends."""
    remainder = b""
    for block, _ in source.blocks():
        *lines, remainder = (remainder + block.tobytes()).split(b"\n")
        yield from lines
    if remainder:
        yield remainder


def write_model(model: NgramModel, path: Path) -> None:
    """Write a model as a safetensors file."""
    tensors = keys_as_tensors(model.trie.words)
    tensors |= {f"ngrams_{m}": packed for m, packed in enumerate(model.trie.packed, 2)}
    tensors |= {f"probabilities_{m}": table for m, table in enumerate(model.probabilities, 1)}
    tensors |= {f"backoffs_{m}": weights for m, weights in enumerate(model.backoffs, 1)}
    metadata = {"order": str(model.order)}
    if model.unseen is not None:
        metadata["unseen"] = repr(model.unseen)
    write_tensor_file(path, KIND, tensors, metadata)


def read_model(source: InputFile) -> NgramModel:
    """Open a safetensors file, memory-mapped."""
    tensors, metadata = read_tensor_file(source, KIND)
    with invalid_file_on_error(source.path):
        order = int(metadata["order"])
        if not 1 <= order <= MAX_ORDER:
            raise InvalidArgumentError(f"its order is {order}, not 1 to {MAX_ORDER}")
        model = NgramModel(
            Trie(keys_from_tensors(tensors), tensors_per_order(tensors, "ngrams", 2, order, "<u8")),
            tensors_per_order(tensors, "probabilities", 1, order, "<f8"),
            tensors_per_order(tensors, "backoffs", 1, order - 1, "<f8"),
            float(metadata["unseen"]) if "unseen" in metadata else None,
        )
        check_ngrams(model.trie)
        check_numbers(model)
    return model


def tensors_per_order(
    tensors: Tensors, name: str, first: int, last: int, dtype: str
) -> tuple[npt.NDArray[Any], ...]:
    """Return the arrays `name_first` to `name_last`, one per order."""
    names = [f"{name}_{order}" for order in range(first, last + 1)]
    check_tensors(tensors, 1, **dict.fromkeys(names, dtype))
    return tuple(tensors[each] for each in names)


def check_ngrams(trie: Trie) -> None:
    """Check that n-grams are sorted and refer to existing words and shorter n-grams."""
    for order, packed in enumerate(trie.packed, 2):
        contexts, words = unpack(packed[-1:])[0], unpack(packed)[1]
        if np.any(packed[1:] <= packed[:-1]):
            raise InvalidArgumentError(f"its n-grams of order {order} are not sorted")
        if np.any(contexts >= trie.sizes[order - 2]) or np.any(words >= len(trie.words)):
            raise InvalidArgumentError(
                f"its n-grams of order {order} do not fit those of order {order - 1}"
            )


def check_numbers(model: NgramModel) -> None:
    """Check that all numbers are probabilities or back-off weights."""
    probabilities = [(each >= 0) & (each <= MAX_PROBABILITY) for each in model.probabilities]
    weights = [(each >= 0) & np.isfinite(each) for each in model.backoffs]
    if not all(each.all() for each in (*probabilities, *weights)):
        raise InvalidArgumentError("some numbers are not probabilities or back-off weights")
    if model.unseen is not None and not 0 <= model.unseen <= 1:
        raise InvalidArgumentError(f"the probability of unseen words is {model.unseen}, not 0 to 1")
