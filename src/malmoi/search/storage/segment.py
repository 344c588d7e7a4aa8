"""A segment: an immutable set of texts with their vectors, words and fields.

On disk it is one safetensors file, opened memory-mapped: `matrix` f32 [n, dim] and `norms`;
`id_*` and `text_*`, packed; `digests` u64 [n, 3], two numbers for the text and one for the
fields, which detect changes; postings; columns. Where texts have passages, the rows of `matrix`
and `norms` are passages.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int64Array, UInt64Array
from malmoi.deferred import Deferred, defer
from malmoi.errors import InvalidArgumentError
from malmoi.files.key_tensors import keys_as_tensors, keys_from_file, keys_from_tensors
from malmoi.files.source import InputFile
from malmoi.files.tensor_file import FileKind, open_tensor_file, write_tensor_file
from malmoi.files.tensors import TensorFile, check_tensors, invalid_file_on_error
from malmoi.keys import Keys, encode
from malmoi.search.analyser import Analyser
from malmoi.search.storage.columns import (
    Column,
    as_json,
    columns_as_tensors,
    columns_from_tensors,
    join_columns,
    make_columns,
)
from malmoi.search.storage.entry import Entry
from malmoi.search.storage.passage_offsets import (
    WHOLE,
    EmbeddedPassages,
    PassageOffsets,
    join_passages,
    make_passages,
    passages_as_tensors,
    passages_from_tensors,
)
from malmoi.search.storage.postings import (
    Postings,
    count_words,
    join_postings,
    postings_as_tensors,
    postings_from_file,
)
from malmoi.vectors import Vectors, l2_normalize

KIND = FileKind("a segment of an index", "a segment of an index")
SMALL = ("field", "passage")  # tensors that are verified when a segment is opened
NO_FIELDS = bytes(8)  # the digest of an entry without fields


@dataclass(frozen=True, eq=False)
class Segment(Deferred):
    """Parallel rows, one per text. `name` and `checksum` are those of its file, once written.

    `vectors` has one row per text, or per passage where there are any; the keys are ids.
    """

    ids: Keys
    vectors: Vectors
    texts: Keys
    digests: UInt64Array  # [rows, 3]
    columns: Mapping[str, Column]
    postings: Postings
    passages: PassageOffsets | None = None
    name: str = ""
    checksum: str = ""

    def __len__(self) -> int:
        return len(self.ids)

    def embedded(self, row: int) -> EmbeddedPassages:
        """The vectors of a text."""
        if self.passages is None:
            return EmbeddedPassages(self.vectors.matrix[row : row + 1], WHOLE)
        own = self.passages.of(row)
        return EmbeddedPassages(self.vectors.matrix[own], self.passages.spans[own])

    @cached_property
    def means(self) -> Vectors:
        """One vector per text: the mean of its passages."""
        if self.passages is None:
            return self.vectors
        units = l2_normalize(self.vectors.matrix)
        sums = np.add.reduceat(units, self.passages.bounds[:-1])
        counts = np.diff(self.passages.bounds)[:, np.newaxis]
        return Vectors(self.ids, sums / counts)

    def entry(self, row: int) -> Entry:
        """The entry of a row."""
        (id,), (text,), (fields,) = self.known([row])
        return Entry(id, text, fields)

    def known(self, rows: Sequence[int]) -> tuple[list[str], list[str], list[dict[str, Any]]]:
        """Ids, texts and fields of rows."""
        fields: list[dict[str, Any]] = [{} for _ in rows]
        for name, column in self.columns.items():
            for row, known in zip(rows, fields, strict=True):
                if column.codes[row]:
                    known[name] = column.value(row)
        return self.ids.strings(rows), self.texts.strings(rows), fields


def digests_of(entries: Iterable[Entry]) -> UInt64Array:
    """Two numbers for each text, one for the fields, [entries, 3]."""
    parts = list[bytes]()
    for entry in entries:
        parts.append(blake2b(encode(entry.text), digest_size=16).digest())
        known = {name: it for name, it in entry.fields.items() if it is not None}
        fields = known and blake2b(encode(as_json(known)), digest_size=8).digest()
        parts.append(fields or NO_FIELDS)
    return np.frombuffer(b"".join(parts), "<u8").reshape(-1, 3)


def make_segment(
    entries: Sequence[Entry],
    matrix: Float32Array,
    analyser: Analyser,
    passages: PassageOffsets | None = None,
) -> Segment:
    """A segment of entries with one vector each, or one per passage."""
    ids = Keys.of(entry.id for entry in entries)
    if len(again := ids.repeats()):
        raise InvalidArgumentError(
            f"the id '{ids[int(again[0])]}' occurs twice: ids must be unique"
        )
    vectors = Vectors(_keys(ids, passages), matrix)
    if not np.all(np.isfinite(vectors.norms)):
        row = int(np.flatnonzero(~np.isfinite(vectors.norms))[0])
        raise InvalidArgumentError(f"the vector of '{vectors.keys[row]}' holds nan or inf")
    return Segment(
        ids,
        vectors,
        Keys.of(entry.text for entry in entries),
        digests_of(entries),
        make_columns([entry.fields for entry in entries]),
        count_words(analyser.many([entry.text for entry in entries])),
        passages,
    )


def embedded_segment(
    entries: Sequence[Entry], embedded: Sequence[EmbeddedPassages], analyser: Analyser
) -> Segment:
    """A segment of entries with the vectors of their texts."""
    matrix = np.concatenate([each.matrix for each in embedded])
    passages = make_passages([each.spans for each in embedded])
    return make_segment(entries, matrix, analyser, passages)


def join_segments(parts: Sequence[tuple[Segment, Int64Array]]) -> Segment:
    """Join some rows of several segments."""
    ids = _joined([part.ids.take(rows) for part, rows in parts])
    passages = join_passages([(part.passages, rows) for part, rows in parts])
    matrix = np.concatenate(
        [
            part.vectors.matrix[part.passages.rows(rows) if part.passages else rows]
            for part, rows in parts
        ]
    )
    return Segment(
        ids,
        Vectors(_keys(ids, passages), matrix),
        _joined([part.texts.take(rows) for part, rows in parts]),
        np.concatenate([part.digests[rows] for part, rows in parts]),
        join_columns([(part.columns, rows) for part, rows in parts]),
        join_postings([(part.postings, rows) for part, rows in parts]),
        passages,
    )


def write_segment(segment: Segment, path: Path) -> None:
    """Write a segment atomically."""
    tensors: dict[str, npt.NDArray[Any] | None] = {
        "matrix": segment.vectors.matrix,
        "norms": segment.vectors.norms,
        "digests": segment.digests,
        **keys_as_tensors(segment.ids, "id"),
        **keys_as_tensors(segment.texts, "text", lookup=False),
        **columns_as_tensors(segment.columns),
        **postings_as_tensors(segment.postings),
        **passages_as_tensors(segment.passages),
    }
    write_tensor_file(path, KIND, tensors)


def open_segment(path: Path) -> Segment:
    """Open a segment, memory-mapped; only its header is read now."""
    file = open_tensor_file(InputFile(path), KIND)
    with invalid_file_on_error(path):
        return _assembled(file)


def _assembled(file: TensorFile) -> Segment:
    """The segment of a file; most of a large file is verified on first use."""
    large = file.is_large
    tensors = file.unverified() if large else file.arrays()
    check_tensors(tensors, 1, norms="<f4")
    check_tensors(tensors, 2, matrix="<f4", digests="<u8")
    small = {name: file.tensors[name].all() for name in tensors if name.startswith(SMALL)}
    ids = keys_from_file(file, "id") if large else keys_from_tensors(tensors, "id")
    passages = passages_from_tensors(small, len(ids), len(tensors["matrix"]))
    vectors = Vectors(_keys(ids, passages), tensors["matrix"], stored_norms=tensors["norms"])
    segment = Segment(
        ids,
        vectors,
        keys_from_file(file, "text", lookup=False)
        if large
        else keys_from_tensors(tensors, "text", lookup=False),
        tensors["digests"],
        columns_from_tensors(small, len(ids)),
        postings_from_file(file),
        passages,
        file.path.name,
        file.checksum,
    )
    parallel = (segment.texts, segment.digests, tensors["word_lengths"])
    if any(len(each) != len(ids) for each in parallel) or segment.digests.shape[1] != 3:
        raise InvalidArgumentError("its arrays differ in length")
    if large:
        mapped = {"matrix": file.tensors["matrix"], "stored_norms": file.tensors["norms"]}
        defer(vectors, mapped)
        defer(segment, {"digests": file.tensors["digests"]})
    return segment


def _keys(ids: Keys, passages: PassageOffsets | None) -> Keys:
    """One key per vector: the id of its text."""
    return ids if passages is None else ids.take(passages.owners)


def _joined(parts: Sequence[Keys]) -> Keys:
    """Concatenate keys."""
    starts = np.cumsum([0, *(len(part.packed) for part in parts)])
    offsets = [part.offsets[1:] + start for part, start in zip(parts, starts, strict=False)]
    return Keys(
        np.concatenate([part.packed for part in parts]),
        np.concatenate([np.zeros(1, np.int64), *offsets]),
    )
