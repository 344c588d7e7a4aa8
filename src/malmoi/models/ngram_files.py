"""N-gram models from and to files: ARPA to exchange them, our own to open them at once.

Our own is a safetensors file. Tensors: the words as `key_bytes` u8 and `key_offsets` i64, with
`key_hashes` u64 ascending and `key_rows` u32 to find one; for each order m `ngrams_m` u64 (not
for order 1), `probabilities_m` f64 and `backoffs_m` f64 (not for the highest). The header's
`__metadata__` holds `malmoi` (the version), `kind`, `order` and, where there is one, `unseen`.
"""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from malmoi.errors import BadFile
from malmoi.files.output import beside, written
from malmoi.files.source import Source
from malmoi.keys import Keys
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
        with beside(place) as [part]:
            part.write_bytes(as_tensors(model))


def load_ngram(path: str | PathLike[str]) -> NgramModel:
    """Open a model: our own file, or an ARPA file by whomever, zipped or not."""
    source = Source(Path(path))
    if source.head[8:9] == b"{":
        if source.compressed:
            raise BadFile(f"{path} is zipped; gunzip it: our own file is opened in place")
        return read_tensors(source.path)
    return read_arpa(lines_of(source), str(path))


def lines_of(source: Source) -> Iterator[bytes]:
    """The lines of a file, without their ends."""
    carried = b""
    for block, _ in source.blocks():
        *lines, carried = (carried + block.tobytes()).split(b"\n")
        yield from lines
    if carried:
        yield carried


def as_tensors(model: NgramModel) -> bytes:
    """All arrays of the model, as our own file has them."""
    from safetensors.numpy import save

    words = model.trie.words
    hashes, rows = words.lookup
    tensors = {
        "key_bytes": words.packed,
        "key_offsets": words.offsets,
        "key_hashes": hashes,
        "key_rows": rows,
    }
    tensors |= {f"ngrams_{m}": packed for m, packed in enumerate(model.trie.packed, 2)}
    tensors |= {f"probabilities_{m}": found for m, found in enumerate(model.probabilities, 1)}
    tensors |= {f"backoffs_{m}": weights for m, weights in enumerate(model.backoffs, 1)}
    metadata = {"malmoi": VERSION, "kind": KIND, "order": str(model.order)}
    if model.unseen is not None:
        metadata["unseen"] = repr(model.unseen)
    packed: bytes = save(tensors, metadata)
    return packed


def read_tensors(path: Path) -> NgramModel:
    """The model whose arrays these are."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            if metadata.get("kind") != KIND or metadata["malmoi"] != VERSION:
                raise BadFile(f"{path} holds no n-gram model that this malmoi reads")
            tensor, order = file.get_tensor, int(metadata["order"])
            lookup = tensor("key_hashes"), tensor("key_rows")
            words = Keys(tensor("key_bytes"), tensor("key_offsets"), lookup)
            return NgramModel(
                Trie(words, tuple(tensor(f"ngrams_{m}") for m in range(2, order + 1))),
                tuple(tensor(f"probabilities_{m}") for m in range(1, order + 1)),
                tuple(tensor(f"backoffs_{m}") for m in range(1, order)),
                float(metadata["unseen"]) if "unseen" in metadata else None,
            )
    except (SafetensorError, LookupError, ValueError) as error:
        raise BadFile(f"{path} is damaged: {error}") from error
