"""Our own file: one safetensors file that opens memory-mapped, whatever its size.

    u64 length of the header, the header (JSON), then the tensors' bytes

Tensors: `matrix` f32 [n, dim]; `norms` f32 [n]; the keys as `key_bytes` u8 and `key_offsets`
i64 [n + 1], with `key_hashes` u64 [n] ascending and `key_rows` u32 [n] to find one; where
known `counts` i64 [n] and `context_matrix` f32, the output vectors. With subwords also
`word_rows`, `bucket_rows`, `kept_buckets`.
The header's `__metadata__` holds `malmoi` (this layout's version),
`kind` ("vectors"; older files have none), `subwords` (JSON), `meta` (JSON) and checksums.
A file of up to 4 MB is verified when it is opened, a larger one where it is used.
"""

import json
from dataclasses import asdict, replace
from pathlib import Path

from malmoi.deferred import defer
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.files.key_tensors import keys_as_tensors, keys_from_tensors, keys_of_file
from malmoi.files.source import InputFile
from malmoi.files.tensor_file import Kind, find_tensor_file, write_tensor_file
from malmoi.files.tensors import TensorFile, Tensors, damage, expect
from malmoi.formats.reading import LoadReport, LoadRequest, LoadResult, chosen_rows
from malmoi.keys import Keys
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.subwords import Subwords, SubwordVectors
from malmoi.vectors import Vectors

TITLE = "malmoi"
KIND = Kind("vectors", "a file of vectors", former=(("malmoi", "1"),))
SUBWORD_TENSORS = ("word_rows", "bucket_rows", "kept_buckets")
DEFERRED = ("matrix", "norms", "counts", "context_matrix", "word_rows", "bucket_rows")
# Names in files written before they were renamed.
FORMER_TENSORS = {
    "output": "context_matrix",
    "own": "word_rows",
    "ngrams": "bucket_rows",
    "kept": "kept_buckets",
}
FORMER_SUBWORDS = {"shortest": "min_n", "longest": "max_n"}


def matches(source: InputFile) -> bool:
    """A safetensors header that names us."""
    head = source.head
    return head[8:9] == b"{" and b'"malmoi"' in head[: 1 << 16] and b'"__metadata__"' in head


def read(source: InputFile, request: LoadRequest) -> LoadResult:
    """Open the file; of a large one, little but the header is read before it is used."""
    if source.compressed:
        raise InvalidFileError(
            f"{source.path} is zipped; gunzip it: our own file is opened in place"
        )
    file = with_current_names(find_tensor_file(source, KIND))
    if "matrix" not in file.tensors:
        raise InvalidFileError(f"{source.path} holds no vectors")
    with damage(source.path):
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
    """The value that a file holds."""
    if not file.is_large:
        tensors = file.arrays()
        return assembled(tensors, keys_from_tensors(tensors), file.metadata)
    tensors = {name: tensor.array if name in DEFERRED else tensor.all()
               for name, tensor in file.tensors.items() if not name.startswith("key_")}  # fmt: skip
    vectors = assembled(tensors, keys_of_file(file), file.metadata)
    defer(vectors, {name: file.tensors[name] for name in DEFERRED if name in file.tensors})
    return vectors


def assembled(tensors: Tensors, keys: Keys, metadata: dict[str, str]) -> Vectors:
    """The value that tensors make."""
    expect(tensors, 1, counts="<i8", kept_buckets="<i4", norms="<f4")
    expect(tensors, 2, matrix="<f4", word_rows="<f4", bucket_rows="<f4", context_matrix="<f4")
    if len(tensors["norms"]) != len(keys):
        raise InvalidArgumentError(
            f"there are {len(tensors['norms']):,} norms for {len(keys):,} keys"
        )
    meta = dict(json.loads(metadata.get("meta", "{}")).items())
    vectors = Vectors(
        keys, tensors["matrix"], tensors.get("counts"), meta, tensors.get("context_matrix")
    )
    if "subwords" in metadata:
        vectors = SubwordVectors(
            keys,
            vectors.matrix,
            vectors.counts,
            meta,
            vectors.context_matrix,
            subwords=read_subwords(metadata["subwords"]),
            word_rows=tensors["word_rows"],
            bucket_rows=tensors["bucket_rows"],
            kept_buckets=tensors.get("kept_buckets"),
        )
    vectors.__dict__.update(norms=tensors["norms"], dim=vectors.dim)
    return vectors


def write(vectors: Vectors, path: Path, progress: Progress = no_progress) -> None:
    """All that is known of the vectors."""
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
