"""The manifest of a folder of vectors: the model, the settings, and every shard that is written.

The footer of each shard repeats its own part of the manifest: a run that was killed between the
two continues from the footers. Knows nothing about how vectors are computed.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.evaluate.suites.vector_cache import PROBES
from malmoi.files.output import open_output
from malmoi.scale.inputs import Shard, digest_of
from malmoi.scale.settings import ShardSettings
from malmoi.search.fingerprint import has_fingerprint, model_name, take_fingerprint
from malmoi.search.storage.state import EncoderFingerprint
from malmoi.text.readers import open_parquet

NAME = "manifest.json"
KIND, VERSION = "malmoi vectors", 1
FOOTER_KEY = b"malmoi.shard"


@dataclass(frozen=True)
class WrittenShard:
    """What a shard of vectors was made of, and how many rows it has."""

    source: str
    size: int
    modified: int
    digest: str
    rows: int


@dataclass(frozen=True)
class ModelIdentity:
    """The model of a folder: its name, the dimension of its vectors, and a probe text's vector."""

    name: str
    dim: int
    probe_text: str
    probe_vector: tuple[float, ...]

    @classmethod
    def of(cls, encoder: Encoder, dim: int) -> Self:
        """The identity of an encoder that makes vectors of this dimension."""
        probe = take_fingerprint(encoder, PROBES)
        if probe is None:  # word vectors of another language
            return cls(model_name(encoder), dim, "", ())
        return cls(model_name(encoder), dim, probe.text, tuple(probe.vector.tolist()))

    def is_of(self, encoder: Encoder) -> bool:
        """Whether an encoder has the same name and vectors, but for rounding."""
        if model_name(encoder) != self.name or not self.probe_text:
            return model_name(encoder) == self.name
        if encoder.dim != len(self.probe_vector):
            return False
        vector = np.array(self.probe_vector, np.float32)
        return has_fingerprint(encoder, EncoderFingerprint(self.probe_text, vector))


@dataclass
class Manifest:
    """`shards` are those that are written, by the names of their files."""

    model: ModelIdentity
    settings: dict[str, Any]
    shards: dict[str, WrittenShard] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """The rows of all shards."""
        return sum(one.rows for one in self.shards.values())

    def check(self, folder: Path, encoder: Encoder, settings: ShardSettings) -> None:
        """Raise `InvalidArgumentError` if another model or other settings made the vectors."""
        if not self.model.is_of(encoder):
            is_renamed = model_name(encoder) != self.model.name
            other = f", not '{model_name(encoder)}'" if is_renamed else " as it was before"
            raise InvalidArgumentError(
                f"the vectors in {folder} are of '{self.model.name}'{other}: write to another"
                " folder"
            )
        now = json.loads(json.dumps(settings.as_json()))
        if now != self.settings:
            name = next(name for name in now if now[name] != self.settings.get(name))
            raise InvalidArgumentError(
                f"the vectors in {folder} were made with other settings ({name}:"
                f" {self.settings.get(name)!r}, now {now[name]!r}): write to another folder"
            )

    def is_written(self, folder: Path, shard: Shard) -> bool:
        """Whether the vectors of a shard are there, made of the file as it is now.

        Raises:
            InvalidArgumentError: They are there, but of another file of the same name.
        """
        path = folder / shard.target
        if not path.exists():
            return False
        written = self.shards.get(shard.target) or read_footer(path)
        if written is None:
            raise InvalidFileError(f"{path} is not a shard of vectors: write to another folder")
        is_same = (written.size, written.modified) == (shard.size, shard.modified)
        if not is_same and written.size == shard.size:
            is_same = digest_of(shard.source) == written.digest
        if not is_same and str(shard.source) != written.source:
            raise InvalidArgumentError(
                f"{path} holds the vectors of {written.source}: write those of {shard.source} to"
                " another folder"
            )
        if is_same:
            self.shards[shard.target] = written
        return is_same

    def write(self, folder: Path) -> None:
        """Write the manifest, atomically."""
        value = {"kind": KIND, "version": VERSION, **asdict(self)}
        value["shards"] = {name: asdict(self.shards[name]) for name in sorted(self.shards)}
        text = json.dumps(value, ensure_ascii=False, indent=1)
        with open_output(folder / NAME) as (file,):
            file.write(text.encode("utf-8", "surrogateescape"))


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder; None if there is none.

    Raises:
        InvalidFileError: It is damaged, or of a later version.
    """
    path = folder / NAME
    if not path.exists():
        return None
    try:
        value = json.loads(path.read_text("utf-8", "surrogateescape"))
        if value["kind"] != KIND or value["version"] != VERSION:
            raise InvalidFileError(f"{path} is not the manifest of a folder of vectors")
        model = value["model"]
        identity = ModelIdentity(
            model["name"], int(model["dim"]), model["probe_text"], tuple(model["probe_vector"])
        )
        shards = {name: WrittenShard(**one) for name, one in value["shards"].items()}
        return Manifest(identity, dict(value["settings"]), shards)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidFileError(f"{path} is damaged: {error}") from error


def read_footer(path: Path) -> WrittenShard | None:
    """The part of the manifest in the footer of a shard; None if it has none."""
    with open_parquet(path) as file:
        content = (file.schema_arrow.metadata or {}).get(FOOTER_KEY)
        if content is None:
            return None
        return WrittenShard(**json.loads(content), rows=file.metadata.num_rows)
