"""Our own file: one safetensors file that opens memory-mapped, whatever its size.

    u64 length of the header, the header (JSON), then the tensors' bytes

Tensors: `matrix` f32 [n, dim]; `norms` f32 [n]; the keys as `key_bytes` u8 and `key_offsets`
i64 [n + 1], with `key_hashes` u64 [n] ascending and `key_rows` u32 [n] to find one; where
known `counts` i64 [n]. With subwords also `own`, `ngrams`, `kept`, `output`. The header's
`__metadata__` holds `malmoi` (this layout's version), `subwords` (JSON) and `meta` (JSON).
"""

import json
import struct
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.errors import BadFile, BadSetting
from malmoi.files.output import beside
from malmoi.files.progress import Progress, silent
from malmoi.files.source import Source
from malmoi.formats.reading import Reading, Report, Request, chosen_rows
from malmoi.keys import Keys
from malmoi.subwords import Subwords, SubwordVectors
from malmoi.vectors import Vectors

TITLE = "malmoi"
VERSION = "1"
DTYPES = {"F32": "<f4", "U8": "u1", "I32": "<i4", "U32": "<u4", "I64": "<i8", "U64": "<u8"}
SUBWORD_TENSORS = ("own", "ngrams", "kept", "output")
Tensors = dict[str, npt.NDArray[Any]]


def matches(source: Source) -> bool:
    """A safetensors header that names us."""
    head = source.head
    return head[8:9] == b"{" and b'"malmoi"' in head[: 1 << 16] and b'"__metadata__"' in head


def read(source: Source, request: Request) -> Reading:
    """Open the file; nothing is read but the header until it is asked for."""
    if source.compressed:
        raise BadFile(f"{source.path} is zipped; gunzip it: our own file is opened in place")
    try:
        tensors, metadata = open_tensors(source)
        vectors = assemble(tensors, metadata)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError, struct.error) as error:
        reason = str(error) if isinstance(error, BadSetting) else f"its header is wrong ({error})"
        raise BadFile(f"{source.path} is damaged: {reason}") from error
    report = Report(rows=len(vectors))
    if request.limit is not None or request.only is not None:
        vectors = vectors.take(chosen_rows(vectors.keys, request))
    return Reading(vectors, report)


def open_tensors(source: Source) -> tuple[Tensors, dict[str, str]]:
    """Every tensor as a view of the mapped file."""
    (length,) = struct.unpack_from("<Q", source.head)
    if length > source.size - 8:
        raise BadSetting(f"the header should take {length:,} bytes of a file of {source.size:,}")
    header = json.loads(bytes(source.mapped[8 : 8 + length]))
    metadata = header.pop("__metadata__")
    if metadata["malmoi"] != VERSION:
        raise BadSetting(
            f"it is of version {metadata['malmoi']}; this malmoi reads {VERSION}: update it"
        )
    body = source.mapped[8 + length :]
    tensors: Tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        if min(entry["shape"], default=0) < 0:
            raise BadSetting(f"'{name}' has the shape {entry['shape']}")
        dtype = np.dtype(DTYPES[entry["dtype"]])
        size = int(np.prod(entry["shape"], dtype=object)) * dtype.itemsize
        if not 0 <= first <= last <= len(body) or last - first != size:
            raise BadSetting(
                f"'{name}' should end at byte {8 + length + last:,} of {source.size:,}"
            )
        tensors[name] = np.frombuffer(body, dtype, size // dtype.itemsize, first).reshape(
            entry["shape"]
        )
    return tensors, metadata


def assemble(tensors: Tensors, metadata: dict[str, str]) -> Vectors:
    """The value that the tensors make."""
    offsets = tensors["key_offsets"]
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(tensors["key_bytes"]):
        raise BadSetting("the keys do not fit their offsets")
    rows = len(offsets) - 1
    if not len(tensors["key_hashes"]) == len(tensors["key_rows"]) == len(tensors["norms"]) == rows:
        raise BadSetting("the keys' index is not as long as the keys")
    keys = Keys(tensors["key_bytes"], offsets, (tensors["key_hashes"], tensors["key_rows"]))
    meta = json.loads(metadata.get("meta", "{}"))
    vectors = Vectors(keys, tensors["matrix"], tensors.get("counts"), meta)
    if "subwords" in metadata:
        vectors = SubwordVectors(
            keys,
            vectors.matrix,
            vectors.counts,
            meta,
            subwords=Subwords(**json.loads(metadata["subwords"])),
            own=tensors["own"],
            ngrams=tensors["ngrams"],
            kept=tensors.get("kept"),
            output=tensors.get("output"),
        )
    vectors.__dict__["norms"] = tensors["norms"]
    return vectors


def write(vectors: Vectors, path: Path, progress: Progress = silent) -> None:
    """All that is known of the vectors."""
    from safetensors import SafetensorError, TensorSpec, serialize_file

    tensors = gather_tensors(vectors)
    specs = {
        name: TensorSpec(
            dtype=str(array.dtype),
            shape=list(array.shape),
            data_ptr=array.ctypes.data,
            data_len=array.nbytes,
        )
        for name, array in tensors.items()
    }
    metadata = {"malmoi": VERSION, "meta": json.dumps(dict(vectors.meta), ensure_ascii=False)}
    if isinstance(vectors, SubwordVectors):
        metadata["subwords"] = json.dumps(asdict(vectors.subwords))
    with beside(path) as (part,):
        try:
            serialize_file(specs, part, metadata)
        except SafetensorError as error:
            raise BadFile(f"{path} was not written: {error}") from error


def gather_tensors(vectors: Vectors) -> Tensors:
    """The arrays to be stored, by name."""
    hashes, rows = vectors.keys.lookup
    tensors: dict[str, npt.NDArray[Any] | None] = {
        "matrix": vectors.matrix,
        "norms": vectors.norms,
        "key_bytes": vectors.keys.packed,
        "key_offsets": vectors.keys.offsets,
        "key_hashes": hashes,
        "key_rows": rows,
        "counts": vectors.counts,
    }
    if isinstance(vectors, SubwordVectors):
        tensors |= {name: getattr(vectors, name) for name in SUBWORD_TENSORS}
    return {
        # Copied where a memory-mapped file has them at odd addresses.
        name: np.require(array, requirements=["C", "A"])
        for name, array in tensors.items()
        if array is not None
    }
