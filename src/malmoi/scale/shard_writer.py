"""Embeds one shard: a file of texts becomes a Parquet file of vectors, which is whole or absent.

location  string                         file:line of the text
id        string                         if the settings name a field for it
text      string                         if the settings want it
vector    fixed_size_list<float32, dim>  one vector per text, in the order of the file
"""

import json
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.bulk.embed import embed, output_dim, replace_surrogates
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidFileError
from malmoi.extras import require
from malmoi.files.output import atomic_write
from malmoi.reporting.reporter import InputTotals, Progress, Reporter, no_progress
from malmoi.scale.inputs import Shard, digest_of
from malmoi.scale.manifest import FOOTER_KEY, WrittenShard
from malmoi.scale.settings import ShardSettings
from malmoi.text.records import Record, read_records

GROUP_ROWS = 8192  # of a row group, about
BULK_TOKENS = 1 << 40  # announces much work, so that every shard is embedded by the same engine


@dataclass(frozen=True)
class ShardReport:
    """What was written for a shard, and warnings about its texts."""

    target: str
    written: WrittenShard
    warnings: tuple[str, ...] = ()


class WarningList(Reporter):
    """Collects the sentences of warnings."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def warn(self, sentence: str) -> None:
        """Add a sentence."""
        self.sentences.append(sentence)


def embed_shard(
    encoder: Encoder,
    shard: Shard,
    folder: Path,
    settings: ShardSettings,
    progress: Progress = no_progress,
) -> ShardReport:
    """Write the vectors of a shard to a folder; progress counts bytes of texts, about.

    Raises:
        InvalidFileError: The shard cannot be read, or its vectors cannot be written.
    """
    digest, warnings = digest_of(shard.source), WarningList()
    written = WrittenShard(str(shard.source), shard.size, shard.modified, digest, 0)
    parquet = require("pyarrow.parquet", extra="parquet")
    schema = _schema(output_dim(encoder, settings.embed), settings, written)
    rows = size = 0
    with (
        atomic_write(folder / shard.target) as (new,),
        _one_engine(encoder),
        parquet.ParquetWriter(new, schema) as writer,
        InputTotals(warnings) as totals,
    ):
        for records, vectors in _groups(_embedded(encoder, shard, settings, totals)):
            writer.write_batch(_record_batch(records, vectors, schema))
            rows += len(records)
            size += sum(len(record.text) for record in records)
            progress(min(size, shard.size), shard.size)
    finished = WrittenShard(**{**asdict(written), "rows": rows})
    return ShardReport(shard.target, finished, tuple(warnings.sentences))


def _embedded(
    encoder: Encoder, shard: Shard, settings: ShardSettings, reporter: Reporter
) -> Iterator[tuple[list[Record], Float32Array]]:
    """Chunks of vectors with their records, which the encoder reads a little ahead."""
    waiting: deque[Record] = deque()

    def texts() -> Iterator[str]:
        for record in read_shard(shard, settings):
            waiting.append(record)
            yield record.text

    for chunk in embed(encoder, texts(), settings.embed, reporter=reporter):
        assert isinstance(chunk.vectors, np.ndarray)
        yield [waiting.popleft() for _ in chunk.texts], chunk.vectors


def read_shard(shard: Shard, settings: ShardSettings) -> Iterator[Record]:
    """The records of a shard; none of an empty file."""
    if shard.size == 0:  # other programs write empty shards
        return
    fields = () if settings.field is None else (settings.field,)
    keep = () if settings.id is None else (settings.id,)
    yield from read_records(shard.source, fields=fields, keep=keep, encoding=settings.encoding)


def _groups(
    chunks: Iterator[tuple[list[Record], Float32Array]],
) -> Iterator[tuple[list[Record], Float32Array]]:
    """Chunks joined into row groups."""
    records, parts = list[Record](), list[Float32Array]()
    for some, vectors in chunks:
        records.extend(some)
        parts.append(vectors)
        if len(records) >= GROUP_ROWS:
            yield records, np.concatenate(parts)
            records, parts = [], []
    if records:
        yield records, np.concatenate(parts)


def _schema(dim: int, settings: ShardSettings, written: WrittenShard) -> Any:
    arrow = require("pyarrow", extra="parquet")
    names = ["location", *["id"] * (settings.id is not None), *["text"] * settings.text]
    columns = [(name, arrow.string()) for name in names]
    source = {name: value for name, value in asdict(written).items() if name != "rows"}
    metadata = {FOOTER_KEY: json.dumps(source).encode()}
    return arrow.schema([*columns, ("vector", arrow.list_(arrow.float32(), dim))], metadata)


def _record_batch(records: list[Record], vectors: Float32Array, schema: Any) -> Any:
    arrow = require("pyarrow", extra="parquet")
    flat = arrow.array(np.ascontiguousarray(vectors, np.float32).reshape(-1))
    values: dict[str, Any] = {
        "location": [replace_surrogates(record.location) for record in records],
        "vector": arrow.FixedSizeListArray.from_arrays(flat, vectors.shape[1]),
    }
    if "text" in schema.names:
        values["text"] = [replace_surrogates(record.text) for record in records]
    if "id" in schema.names:
        values["id"] = [_id(record) for record in records]
    columns = [arrow.array(values[name], schema.field(name).type) for name in schema.names[:-1]]
    return arrow.record_batch([*columns, values["vector"]], schema=schema)


def _id(record: Record) -> str:
    (value,) = record.fields.values() or (None,)
    if value is None:
        raise InvalidFileError(f"{record.location}: the field of the id is missing")
    return replace_surrogates(str(value))


def _one_engine(encoder: Encoder) -> AbstractContextManager[None]:
    if isinstance(encoder, ContextualEncoder):
        return encoder.engine.pinned(BULK_TOKENS)
    return nullcontext()
