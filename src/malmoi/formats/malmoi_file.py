"""Our own format: one safetensors file that is memory-mapped, whatever its size.

    u64 length of the header, the header (JSON), then the bytes of the tensors

Tensors: `matrix` f32 [n, dim]; `norms` f32 [n]; the keys as `key_bytes` u8 and `key_offsets`
i64 [n + 1], with `key_hashes` u64 [n] ascending and `key_rows` u32 [n] for look-ups; if known
`counts` i64 [n] and `context_matrix` f32, the network's output layer. With subwords also
`word_rows`, `bucket_rows`, `kept_buckets`. The header's `__metadata__` holds `malmoi` (this
layout's version), `kind` ("vectors"; older files have none), `subwords` (JSON), `meta` (JSON) and
checksums. A file of up to 4 MB is verified when it is opened, a larger one when it is used.
"""

import json
from dataclasses import asdict, replace
from pathlib import Path

from malmoi.deferred import defer
from malmoi.errors import InvalidFileError
from malmoi.files.key_tensors import keys_as_tensors, keys_from_file, keys_from_tensors
from malmoi.files.source import InputFile
from malmoi.files.tensor_file import FileKind, open_tensor_file, write_tensor_file
from malmoi.files.tensors import TensorFile, Tensors, check_tensors, invalid_file_on_error
from malmoi.formats.reading import LoadReport, LoadRequest, LoadResult, chosen_rows
from malmoi.keys import Keys
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.subwords import Subwords, SubwordVectors
from malmoi.vectors import Vectors

TITLE = "malmoi"
KIND = FileKind("vectors", "a file of vectors", former=(("malmoi", "1"),))
SUBWORD_TENSORS = ("word_rows", "bucket_rows", "kept_buckets")
FORMER_TENSORS = {  # names in files of earlier versions
    "output": "context_matrix",
    "own": "word_rows",
    "ngrams": "bucket_rows",
    "kept": "kept_buckets",
}
FORMER_SUBWORDS = {"shortest": "min_n", "longest": "max_n"}
DEFERRED = {  # fields that are verified when they are used, and their tensors
    "matrix": "matrix",
    "stored_norms": "norms",
    "counts": "counts",
    "context_matrix": "context_matrix",
    "word_rows": "word_rows",
    "bucket_rows": "bucket_rows",
}


def matches(source: InputFile) -> bool:
    """A safetensors header whose metadata have the key `malmoi`."""
    head = source.head
    return head[8:9] == b"{" and b'"malmoi"' in head[: 1 << 16] and b'"__metadata__"' in head


def read(source: InputFile, request: LoadRequest) -> LoadResult:
    """Open the file; of a large one only the header is read now."""
    if source.compressed:
        raise InvalidFileError(
            f"{source.path} is compressed but must be memory-mapped: decompress it"
        )
    file = with_current_names(open_tensor_file(source, KIND))
    if "matrix" not in file.tensors:
        raise InvalidFileError(f"{source.path} does not hold vectors")
    with invalid_file_on_error(source.path):
        vectors = assemble(file)
    report = LoadReport(rows=len(vectors))
    if request.limit is not None or request.only is not None:
        vectors = vectors.take(chosen_rows(vectors.keys, request))
    return LoadResult(vectors, report)


def with_current_names(file: TensorFile) -> TensorFile:
    """The file with its tensors under their present names."""
    tensors = {FORMER_TENSORS.get(name, name): tensor for name, tensor in file.tensors.items()}
    return replace(file, tensors=tensors)


def read_subwords(text: str) -> Subwords:
    """The n-gram settings from JSON; older files have other names for some of them."""
    settings = {FORMER_SUBWORDS.get(name, name): value for name, value in json.loads(text).items()}
    if settings.get("units") == "letters":
        settings["units"] = "characters"
    return Subwords(**settings)


def assemble(file: TensorFile) -> Vectors:
    """The vectors in a file."""
    if not file.is_large:
        tensors = file.arrays()
        return from_tensors(tensors, keys_from_tensors(tensors), file.metadata)
    tensors = {
        name: tensor.array if name in DEFERRED.values() else tensor.all()
        for name, tensor in file.tensors.items()
        if not name.startswith("key_")
    }
    vectors = from_tensors(tensors, keys_from_file(file), file.metadata)
    unverified = {
        field: file.tensors[name] for field, name in DEFERRED.items() if name in file.tensors
    }
    defer(vectors, unverified)
    return vectors


def from_tensors(tensors: Tensors, keys: Keys, metadata: dict[str, str]) -> Vectors:
    """The vectors that tensors and metadata describe."""
    check_tensors(tensors, 1, counts="<i8", kept_buckets="<i4", norms="<f4")
    matrices = ("matrix", "word_rows", "bucket_rows", "context_matrix")
    check_tensors(tensors, 2, **dict.fromkeys(matrices, "<f4"))
    meta = dict(json.loads(metadata.get("meta", "{}")).items())
    if "subwords" not in metadata:
        return Vectors(
            keys,
            tensors["matrix"],
            tensors.get("counts"),
            meta,
            tensors.get("context_matrix"),
            tensors["norms"],
        )
    return SubwordVectors(
        keys,
        tensors["matrix"],
        tensors.get("counts"),
        meta,
        tensors.get("context_matrix"),
        tensors["norms"],
        subwords=read_subwords(metadata["subwords"]),
        word_rows=tensors["word_rows"],
        bucket_rows=tensors["bucket_rows"],
        kept_buckets=tensors.get("kept_buckets"),
    )


def write(vectors: Vectors, path: Path, progress: Progress = no_progress) -> None:
    """Write the vectors with all that is known about them."""
    metadata = {"meta": json.dumps(dict(vectors.meta))}
    tensors = {
        "matrix": vectors.matrix,
        "norms": vectors.norms,
        "counts": vectors.counts,
        "context_matrix": vectors.context_matrix,
        **keys_as_tensors(vectors.keys),
    }
    if isinstance(vectors, SubwordVectors):
        metadata["subwords"] = json.dumps(asdict(vectors.subwords))
        tensors |= {name: getattr(vectors, name) for name in SUBWORD_TENSORS}
    write_tensor_file(path, KIND, tensors, metadata)
