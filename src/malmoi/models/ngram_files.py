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

import numpy as np
import numpy.typing as npt

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
MOST_LIKELY = 1 + 1e-6  # a probability may be off by what sums are rounded to
LONGEST = 64  # the highest order that a file may have


def save_ngram(model: NgramModel, path: str | PathLike[str]) -> None:
    """Write a model: ARPA if the name ends in .arpa or .arpa.gz, our own file otherwise.

    The file is whole or not there.
    """
    place = Path(path)
    if place.name.endswith((".arpa", ".arpa.gz")):
        with open_output(place) as [stream]:
            write_arpa(model, stream)
    else:
        write_model(model, place)


def load_ngram(path: str | PathLike[str]) -> NgramModel:
    """Open a model: our own file, or an ARPA file by whomever, zipped or not."""
    source = InputFile(Path(path))
    if is_our_own(source):
        return read_model(source)
    return read_arpa(lines_of(source), str(path))


def is_our_own(source: InputFile) -> bool:
    """Whether a file begins as ours do, with a header of JSON; zipped ones are refused."""
    ours = source.head[8:9] == b"{"
    if ours and source.compressed:
        raise InvalidFileError(
            f"{source.path} is zipped; gunzip it: our own file is opened in place"
        )
    return ours


def lines_of(source: InputFile) -> Iterator[bytes]:
    """The lines of a file, without their ends."""
    carried = b""
    for block, _ in source.blocks():
        *lines, carried = (carried + block.tobytes()).split(b"\n")
        yield from lines
    if carried:
        yield carried


def write_model(model: NgramModel, path: Path) -> None:
    """All arrays of the model."""
    tensors = keys_as_tensors(model.trie.words)
    tensors |= {f"ngrams_{m}": packed for m, packed in enumerate(model.trie.packed, 2)}
    tensors |= {f"probabilities_{m}": found for m, found in enumerate(model.probabilities, 1)}
    tensors |= {f"backoffs_{m}": weights for m, weights in enumerate(model.backoffs, 1)}
    metadata = {"order": str(model.order)}
    if model.unseen is not None:
        metadata["unseen"] = repr(model.unseen)
    write_tensor_file(path, KIND, tensors, metadata)


def read_model(source: InputFile) -> NgramModel:
    """The model whose arrays these are, memory-mapped."""
    tensors, metadata = read_tensor_file(source, KIND)
    with invalid_file_on_error(source.path):
        order = int(metadata["order"])
        if not 1 <= order <= LONGEST:
            raise InvalidArgumentError(f"it is of order {order}")
        model = NgramModel(
            Trie(keys_from_tensors(tensors), several(tensors, "ngrams", 2, order, "<u8")),
            several(tensors, "probabilities", 1, order, "<f8"),
            several(tensors, "backoffs", 1, order - 1, "<f8"),
            float(metadata["unseen"]) if "unseen" in metadata else None,
        )
        check_ngrams(model.trie)
        check_numbers(model)
    return model


def several(
    tensors: Tensors, name: str, first: int, last: int, dtype: str
) -> tuple[npt.NDArray[Any], ...]:
    """The arrays of this name for each order."""
    names = [f"{name}_{order}" for order in range(first, last + 1)]
    check_tensors(tensors, 1, **dict.fromkeys(names, dtype))
    return tuple(tensors[each] for each in names)


def check_ngrams(trie: Trie) -> None:
    """Refuse n-grams that are not sorted, or of words or shorter n-grams that there are not."""
    for order, packed in enumerate(trie.packed, 2):
        contexts, words = unpack(packed[-1:])[0], unpack(packed)[1]
        if np.any(packed[1:] <= packed[:-1]):
            raise InvalidArgumentError(f"its n-grams of order {order} are not sorted")
        if np.any(contexts >= trie.sizes[order - 2]) or np.any(words >= len(trie.words)):
            raise InvalidArgumentError(
                f"its n-grams of order {order} do not fit those of order {order - 1}"
            )


def check_numbers(model: NgramModel) -> None:
    """Refuse numbers that are no probabilities or back-off weights."""
    likely = [(each >= 0) & (each <= MOST_LIKELY) for each in model.probabilities]
    weights = [(each >= 0) & np.isfinite(each) for each in model.backoffs]
    if not all(each.all() for each in (*likely, *weights)):
        raise InvalidArgumentError("it holds numbers that are no probabilities or back-off weights")
    if model.unseen is not None and not 0 <= model.unseen <= 1:
        raise InvalidArgumentError(f"the probability of what was not seen is {model.unseen}")
