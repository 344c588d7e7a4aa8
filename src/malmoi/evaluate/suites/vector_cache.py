"""Cached vectors of texts: files in the cache folder, by the encoder's fingerprint.

Each file holds the vectors of the texts that one call added, by the hashes of the texts. The
least recently used files are removed when all together are too large. A damaged file is ignored.
"""

import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b, sha256
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.locate import split_precision
from malmoi.encode.protocol import Encoder
from malmoi.files.cache_folder import cache_folder
from malmoi.files.output import open_output
from malmoi.reporting.reporter import SilentReporter
from malmoi.search.fingerprint import model_name, part_names

VERSION = 1  # of the files: others are not read
MAX_BYTES = 1 << 30  # of all files together
HASH_BYTES = 16  # of a text
PROBES = ("The bank raised its rates.", "서울은 한국의 수도이다.", "A short text, 1999.")


def text_hash(text: str, prompt: str = "") -> bytes:
    """The hash of a text with the prompt before it."""
    content = f"{prompt}\0{text}".encode("utf-8", "surrogatepass")
    return blake2b(content, digest_size=HASH_BYTES).digest()


def encoder_fingerprint(encoder: Encoder) -> str:
    """A hash of the vectors of some probe texts, and of the sizes and dates of the model's files.

    The probes alone would not show a change in the rows of tokens that they do not have.
    """
    digest = sha256(f"{VERSION} {model_name(encoder)} {encoder.dim}".encode())
    for path in (Path(split_precision(name)[0]) for name in part_names(encoder)):
        files = sorted(path.rglob("*")) if path.is_dir() else [path] if path.is_file() else []
        for file in files:
            if file.is_file():
                stat = file.stat()
                digest.update(f"{file.name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    vectors = encoder.encode(list(PROBES), reporter=SilentReporter())
    digest.update(np.ascontiguousarray(vectors).data)
    return digest.hexdigest()[:32]


class VectorCache:
    """The cached vectors of one encoder, read when the cache is made."""

    def __init__(
        self, encoder: Encoder, *, fingerprint: str = "", max_bytes: int = MAX_BYTES
    ) -> None:
        self.folder, self.max_bytes = cache_folder("vectors"), max_bytes
        self.fingerprint, self.dim = fingerprint or encoder_fingerprint(encoder), encoder.dim
        self._known: dict[bytes, Float32Array] = {}
        for path in sorted(self.folder.glob(f"vectors-{self.fingerprint}-*.npz")):
            self._known |= _read(path, self.dim)

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: bytes) -> Float32Array | None:
        """The vector of a text, by its hash."""
        return self._known.get(key)

    def add(self, keys: Sequence[bytes], matrix: Float32Array) -> None:
        """Keep vectors [keys, dim], also in a new file; raises if that cannot be written."""
        self._known |= zip(keys, matrix, strict=True)
        name = blake2b(b"".join(keys), digest_size=HASH_BYTES).hexdigest()
        path = self.folder / f"vectors-{self.fingerprint}-{name}.npz"
        self.folder.mkdir(parents=True, exist_ok=True)
        with open_output(path) as (stream,):
            hashes = np.frombuffer(b"".join(keys), np.uint8).reshape(-1, HASH_BYTES)
            np.savez(stream, hashes=hashes, vectors=matrix)
        remove_oldest(self.folder.glob("vectors-*.npz"), self.max_bytes)


def remove_oldest(files: Iterable[Path], max_bytes: int) -> None:
    """Remove the files that were used longest ago, until the others are small enough."""
    stats = [(file, file.stat()) for file in files]
    total = sum(stat.st_size for _, stat in stats)
    for file, stat in sorted(stats, key=lambda each: each[1].st_mtime_ns):
        if total <= max_bytes:
            return
        file.unlink(missing_ok=True)
        total -= stat.st_size


def _read(path: Path, dim: int) -> Mapping[bytes, Float32Array]:
    """The vectors of one file by hash; none if it is damaged."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            hashes, vectors = arrays["hashes"], arrays["vectors"]
        if hashes.shape != (len(vectors), HASH_BYTES) or vectors.shape[1:] != (dim,):
            return {}
        os.utime(path)  # used now
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, zlib.error):
        return {}
    packed, rows = hashes.tobytes(), vectors.astype(np.float32)
    keys = (packed[start : start + HASH_BYTES] for start in range(0, len(packed), HASH_BYTES))
    return dict(zip(keys, rows, strict=True))
