"""The manifest of an index: a state as JSON, all but what lies in its files."""

import base64
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.encode.prompts import Prompts
from malmoi.errors import BadSetting
from malmoi.search.clusters import Clusters
from malmoi.search.fusion import Fusion
from malmoi.search.segment import Segment
from malmoi.search.state import Mask, Probe, State
from malmoi.search.words import Analyser
from malmoi.vectors import Matrix

VERSION = 1
WRONG = (AttributeError, KeyError, IndexError, TypeError, ValueError, zlib.error, RecursionError)


def described(state: State) -> dict[str, Any]:
    """What a manifest says; segments and clusters are files already."""
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
        "hangul": state.analyser.hangul,
        "segments": [
            {"file": segment.name, "rows": len(segment), "dead": _packed(np.packbits(~alive))}
            for segment, alive in zip(state.segments, state.alive, strict=True)
        ],
        "clusters": clusters
        and {"file": clusters.path.name if clusters.path else "", **clusters.facts},
    }


def file_names(said: dict[str, Any]) -> list[str]:
    """The files that a manifest names."""
    clusters = [said["clusters"]] if said["clusters"] else []
    return [str(entry["file"]) for entry in [*said["segments"], *clusters]]


def assembled(said: dict[str, Any], segments: tuple[Segment, ...], folder: Path) -> State:
    """The state that a manifest describes."""
    alive = tuple(
        _alive(entry["dead"], len(segment))
        for entry, segment in zip(said["segments"], segments, strict=True)
    )
    for entry, segment in zip(said["segments"], segments, strict=True):
        if entry["rows"] != len(segment) or segment.vectors.dim != said["dim"]:
            raise BadSetting(f"{segment.name} is not what it says")
    probe, clusters, prompts = said["probe"], said["clusters"], said.get("prompts")
    fusion = said.get("fusion")
    if clusters:
        clusters = {**clusters, "path": folder / clusters["file"]}
        del clusters["file"]
    return State(
        analyser=Analyser(said["hangul"]),
        dim=int(said["dim"]),
        model=str(said["model"]),
        probe=Probe(probe["text"], _vector(probe["vector"])) if probe else None,
        segments=segments,
        alive=alive,
        clusters=Clusters(**clusters) if clusters else None,
        prompts=Prompts(**prompts) if prompts else None,
        passages=bool(said.get("passages")),
        fusion=Fusion(**fusion) if fusion else None,
    )


def _packed(array: Any) -> str:
    return base64.b64encode(zlib.compress(array.tobytes())).decode()


def _unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


def _vector(text: str) -> Matrix:
    return np.frombuffer(_unpacked(text), "<f4").astype(np.float32)


def _alive(text: str, rows: int) -> Mask:
    bits = np.unpackbits(np.frombuffer(_unpacked(text), np.uint8))
    if len(bits) // 8 != -(-rows // 8):
        raise BadSetting(f"dead rows for {len(bits):,} of {rows:,}")
    alive: Mask = bits[:rows] == 0
    return alive
