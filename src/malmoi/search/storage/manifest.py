"""The manifest of an index: the state of an index as JSON, without its segments."""

import base64
import re
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.arrays import BoolArray, Float32Array
from malmoi.encode.pipeline.prompts import Prompts
from malmoi.errors import InvalidArgumentError
from malmoi.files.checksums import json_checksum
from malmoi.search.analyser import Analyser
from malmoi.search.storage.clusters import Clusters
from malmoi.search.storage.fusion import Fusion
from malmoi.search.storage.segment import Segment
from malmoi.search.storage.state import EncoderFingerprint, State, Translation

VERSION = 1
CHECKSUM_KEY = "crc32"
INDEX_FILE = re.compile(r"(segment|clusters)-(\d{1,18})\.(malmoi|faiss)", re.ASCII)
MAX_DIM, MAX_NUMBER = 1 << 20, 1 << 40
INVALID = (AttributeError, KeyError, IndexError, OverflowError, TypeError, ValueError, MemoryError,
         RecursionError, zlib.error)  # fmt: skip


def manifest_of(state: State) -> dict[str, Any]:
    """The manifest of a state whose segments and clusters are written already."""
    probe, clusters = state.probe, state.clusters
    return {
        "malmoi index": VERSION,
        "texts": state.count,
        "dim": state.dim,
        "model": state.model,
        "probe": probe and {"text": probe.text, "vector": _packed(probe.vector.astype("<f4"))},
        "prompts": state.prompts and asdict(state.prompts),
        "passages": state.passages,
        "fusion": state.fusion and asdict(state.fusion),
        "translation": state.translation and asdict(state.translation),
        "hangul": state.analyser.hangul,
        "segments": [
            {
                "file": segment.name,
                CHECKSUM_KEY: segment.checksum,
                "rows": len(segment),
                "dead": _packed(np.packbits(~alive)),
            }
            for segment, alive in zip(state.segments, state.alive, strict=True)
        ],
        "clusters": clusters
        and {
            "file": clusters.path.name if clusters.path else "",
            "checksum": clusters.checksum,
            **clusters.facts,
        },
    }


def with_checksum(manifest: dict[str, Any]) -> dict[str, Any]:
    """Add the checksum of the other values."""
    return manifest | {CHECKSUM_KEY: json_checksum(manifest)}


def verify_checksum(manifest: dict[str, Any]) -> dict[str, Any]:
    """Verify and remove the checksum, which earlier releases did not write."""
    rest = {name: held for name, held in manifest.items() if name != CHECKSUM_KEY}
    expected = CHECKSUM_KEY in manifest or any(
        CHECKSUM_KEY in entry for entry in manifest["segments"]
    )
    if expected and manifest.get(CHECKSUM_KEY) != json_checksum(rest):
        raise InvalidArgumentError("its checksum is wrong")
    return rest


def file_names(manifest: dict[str, Any]) -> list[str]:
    """The files that a manifest names."""
    clusters = [manifest["clusters"]] if manifest["clusters"] else []
    names = [str(entry["file"]) for entry in [*manifest["segments"], *clusters]]
    for name in names:  # never a path that leads out of the folder
        if not INDEX_FILE.fullmatch(name):
            raise InvalidArgumentError(f"'{name}' is not the name of a file of an index")
    return names


def state_of(manifest: dict[str, Any], segments: tuple[Segment, ...], folder: Path) -> State:
    """The state that a manifest describes."""
    alive = tuple(
        _alive(entry["dead"], len(segment))
        for entry, segment in zip(manifest["segments"], segments, strict=True)
    )
    for entry, segment in zip(manifest["segments"], segments, strict=True):
        if entry["rows"] != len(segment) or segment.vectors.dim != manifest["dim"]:
            raise InvalidArgumentError(
                f"{segment.name} has other rows or dimensions than the manifest says"
            )
        if entry.get(CHECKSUM_KEY, segment.checksum) != segment.checksum:
            raise InvalidArgumentError(
                f"{segment.name} is not the file that was written: its checksum differs"
            )
    probe, clusters, prompts = manifest["probe"], manifest["clusters"], manifest.get("prompts")
    fusion, translation = manifest.get("fusion"), manifest.get("translation")
    if clusters:
        clusters = {**_counted(clusters), "path": folder / clusters["file"]}
        del clusters["file"]
    if not 1 <= int(manifest["dim"]) <= MAX_DIM:
        raise InvalidArgumentError(f"its vectors have {manifest['dim']} dimensions")
    return State(
        analyser=Analyser(manifest["hangul"]),
        dim=int(manifest["dim"]),
        model=str(manifest["model"]),
        probe=EncoderFingerprint(str(probe["text"]), _vector(probe["vector"], manifest["dim"]))
        if probe
        else None,
        segments=segments,
        alive=alive,
        clusters=Clusters(**clusters) if clusters else None,
        prompts=Prompts(**prompts) if prompts else None,
        passages=bool(manifest.get("passages")),
        fusion=Fusion(**fusion) if fusion else None,
        translation=Translation(**translation) if translation else None,
    )


def _packed(array: Any) -> str:
    return base64.b64encode(zlib.compress(array.tobytes())).decode()


def _unpacked(text: str, size: int) -> bytes:
    """Decode exactly `size` bytes; never allocates more."""
    data = zlib.decompressobj().decompress(base64.b64decode(text, validate=True), size + 1)
    if len(data) != size:
        raise InvalidArgumentError(f"it holds {len(data):,} bytes where {size:,} should be")
    return data


def _vector(text: str, dim: int) -> Float32Array:
    return np.frombuffer(_unpacked(text, 4 * dim), "<f4").astype(np.float32)


def _counted(clusters: dict[str, Any]) -> dict[str, Any]:
    """Check that the counts of clusters are integers in range."""
    for name in ("clusters", "probes", "candidates", "sample", "far_probes"):
        if type(clusters.get(name, 1)) is not int or not 1 <= clusters.get(name, 1) <= MAX_NUMBER:
            raise InvalidArgumentError(f"{name} of its clusters is {clusters[name]!r}")
    return clusters


def _alive(text: str, rows: int) -> BoolArray:
    bits = np.unpackbits(np.frombuffer(_unpacked(text, -(-rows // 8)), np.uint8))
    alive: BoolArray = bits[:rows] == 0
    return alive
