"""Our own file: one safetensors file that opens memory-mapped, whatever its size.

    u64 length of the header, the header (JSON), then the tensors' bytes

Tensors: `matrix` f32 [n, dim]; `norms` f32 [n]; the keys as `key_bytes` u8 and `key_offsets`
i64 [n + 1], with `key_hashes` u64 [n] ascending and `key_rows` u32 [n] to find one; where
known `counts` i64 [n] and `output` f32, the network's other side. With subwords also `own`,
`ngrams`, `kept`. The header's `__metadata__` holds `malmoi` (this layout's version),
`subwords` (JSON) and `meta` (JSON).
"""

import json
from dataclasses import asdict
from pathlib import Path

from malmoi.errors import BadFile, BadSetting
from malmoi.files.progress import Progress, silent
from malmoi.files.source import Source
from malmoi.files.tensors import (
    WRONG,
    Tensors,
    damaged,
    expect,
    keys_as_tensors,
    keys_from_tensors,
    open_tensors,
    write_tensors,
)
from malmoi.formats.reading import Reading, Report, Request, chosen_rows
from malmoi.subwords import Subwords, SubwordVectors
from malmoi.vectors import Vectors

TITLE = "malmoi"
VERSION = "1"
SUBWORD_TENSORS = ("own", "ngrams", "kept")


def matches(source: Source) -> bool:
    """A safetensors header that names us."""
    head = source.head
    return head[8:9] == b"{" and b'"malmoi"' in head[: 1 << 16] and b'"__metadata__"' in head


def read(source: Source, request: Request) -> Reading:
    """Open the file; nothing is read but the header until it is asked for."""
    if source.compressed:
        raise BadFile(f"{source.path} is zipped; gunzip it: our own file is opened in place")
    tensors, said = open_tensors(source)
    if "matrix" not in tensors:
        raise BadFile(f"{source.path} holds no vectors but {said.get('kind', 'something else')}")
    try:
        vectors = assemble(tensors, said)
    except WRONG as error:
        raise damaged(source.path, error) from error
    report = Report(rows=len(vectors))
    if request.limit is not None or request.only is not None:
        vectors = vectors.take(chosen_rows(vectors.keys, request))
    return Reading(vectors, report)


def assemble(tensors: Tensors, said: dict[str, str]) -> Vectors:
    """The value that the tensors make."""
    if said["malmoi"] != VERSION:
        raise BadSetting(f"it is of version {said['malmoi']}; this malmoi reads {VERSION}")
    keys = keys_from_tensors(tensors)
    expect(tensors, 1, counts="<i8", kept="<i4", norms="<f4")
    expect(tensors, 2, matrix="<f4", own="<f4", ngrams="<f4", output="<f4")
    if len(tensors["norms"]) != len(keys):
        raise BadSetting(f"there are {len(tensors['norms']):,} norms for {len(keys):,} keys")
    meta = dict(json.loads(said.get("meta", "{}")).items())
    vectors = Vectors(keys, tensors["matrix"], tensors.get("counts"), meta, tensors.get("output"))
    if "subwords" in said:
        vectors = SubwordVectors(
            keys,
            vectors.matrix,
            vectors.counts,
            meta,
            vectors.output,
            subwords=Subwords(**json.loads(said["subwords"])),
            own=tensors["own"],
            ngrams=tensors["ngrams"],
            kept=tensors.get("kept"),
        )
    vectors.__dict__["norms"] = tensors["norms"]
    return vectors


def write(vectors: Vectors, path: Path, progress: Progress = silent) -> None:
    """All that is known of the vectors."""
    said = {"malmoi": VERSION, "meta": json.dumps(dict(vectors.meta))}
    tensors = {
        "matrix": vectors.matrix,
        "norms": vectors.norms,
        "counts": vectors.counts,
        "output": vectors.output,
        **keys_as_tensors(vectors.keys),
    }
    if isinstance(vectors, SubwordVectors):
        said["subwords"] = json.dumps(asdict(vectors.subwords))
        tensors |= {name: getattr(vectors, name) for name in SUBWORD_TENSORS}
    write_tensors(path, tensors, said)
