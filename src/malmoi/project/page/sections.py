"""A scene as a JSON description and deflated sections of bytes.

Coordinates are 16-bit steps between the minimum and the maximum of each axis, scores integers in
units of a power of ten, names and lines JSON lists. Knows nothing of HTML.
"""

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError, printable
from malmoi.project.scene import Field, Near, Scene, Space

VERSION = 1
COORD_STEPS = 65535  # of an axis
MAX_SCORE_DIGITS = 4  # after the decimal point
COMPRESSION_LEVEL = 6  # of zlib


@dataclass(frozen=True, eq=False)
class PackedScene:
    """The description of a scene, and its sections by (space, name), read on demand."""

    description: Mapping[str, Any]
    sections: Mapping[tuple[int, str], bytes]


def pack(scene: Scene) -> PackedScene:
    """Check and encode a scene."""
    if not 1 <= len(scene.spaces) <= 2:
        raise InvalidArgumentError(
            f"a page shows one model or two side by side, not {len(scene.spaces)}"
        )
    sections: dict[tuple[int, str], bytes] = {}
    spaces = []
    for i, space in enumerate(scene.spaces):
        writer = _SectionWriter(i, sections)
        spaces.append(_space(space, writer) | {"sections": writer.descriptions})
    description = {"version": VERSION, "title": printable(scene.title), "spaces": spaces}
    return PackedScene(description, sections)


class _SectionWriter:
    """Collects the sections of one space and their descriptions."""

    def __init__(self, space: int, sections: dict[tuple[int, str], bytes]) -> None:
        self.space, self.sections = space, sections
        self.descriptions: dict[str, dict[str, object]] = {}

    def array(self, name: str, values: npt.NDArray[Any], **more: object) -> None:
        description = {"type": values.dtype.name, "shape": list(values.shape), **more}
        self._put(
            name, values.astype(values.dtype.newbyteorder("<"), copy=False).tobytes(), description
        )

    def strings(self, name: str, values: Sequence[str]) -> None:
        encoded = json.dumps([printable(value) for value in values], ensure_ascii=False)
        self._put(name, encoded.encode(), {"type": "json", "shape": [len(values)]})

    def _put(self, name: str, raw: bytes, description: dict[str, object]) -> None:
        self.sections[self.space, name] = zlib.compress(raw, COMPRESSION_LEVEL)
        self.descriptions[name] = {**description, "bytes": len(raw)}


def _space(space: Space, writer: _SectionWriter) -> dict[str, object]:
    points = len(space.keys)
    if points == 0:
        raise InvalidArgumentError(f"{space.name}: there are no points to show")
    writer.strings("keys", space.keys)
    _coords(space, "coords_2d", space.coords_2d, 2, writer)
    _coords(space, "coords_3d", space.coords_3d, 3, writer)
    for metric, near in space.near.items():
        _near(space, metric, near, writer)
    if space.coarse is not None:
        _check(space, "coarse vectors", len(space.coarse.bytes), points)
        writer.array("coarse", space.coarse.bytes.astype(np.int8, copy=False))
        writer.array("scales", space.coarse.scales.astype(np.float32, copy=False).ravel())
    if space.details is not None:
        _check(space, "details", len(space.details), points)
        writer.strings("details", space.details)
    if space.others:
        writer.strings("others", space.others)
    return {
        "name": printable(space.name),
        "count": points,
        "reduction": printable(space.reduction),
        "neighbour_preservation": space.neighbour_preservation
        if math.isfinite(space.neighbour_preservation)
        else None,
        "notes": [printable(note) for note in space.notes],
        "metrics": list(space.near),
        "labelled_by": space.labelled_by,
        "fields": [_field(space, i, field, writer) for i, field in enumerate(space.fields)],
    }


def _coords(
    space: Space, name: str, coords: Float32Array, axes: int, writer: _SectionWriter
) -> None:
    """[points, axes] as 16-bit steps."""
    if coords.shape != (len(space.keys), axes):
        raise InvalidArgumentError(
            f"{space.name}: coordinates of shape {coords.shape} for {len(space.keys)} keys"
        )
    if not np.isfinite(coords).all():
        raise InvalidArgumentError(f"{space.name}: some coordinates are not finite numbers")
    low = coords.min(axis=0).astype(np.float64)
    step = (coords.max(axis=0).astype(np.float64) - low) / COORD_STEPS
    steps = np.rint((coords - low) / np.where(step > 0, step, 1)).astype(np.uint16)
    writer.array(name, steps, low=low.tolist(), step=step.tolist())


def _near(space: Space, metric: str, near: Near, writer: _SectionWriter) -> None:
    _check(space, f"{metric} neighbours", len(near.rows), len(space.keys))
    if near.rows.shape != near.scores.shape:
        raise InvalidArgumentError(
            f"{space.name}: {metric} neighbours and their scores differ in shape"
        )
    if near.rows.size and near.rows.max() >= len(space.keys) + len(space.others):
        raise InvalidArgumentError(
            f"{space.name}: a {metric} neighbour has row {near.rows.max()}, which does not exist"
        )
    if not np.isfinite(near.scores).all():
        raise InvalidArgumentError(f"{space.name}: some {metric} scores are not finite numbers")
    writer.array(f"{metric}-rows", near.rows.astype(np.uint32, copy=False))
    digits = score_digits(near.scores)
    steps = np.rint(near.scores.astype(np.float64) * 10**digits).astype(np.int32)
    # The differences along a row are small numbers, of which half the bytes are zero.
    first = np.zeros((len(steps), 1), np.int32)
    writer.array(f"{metric}-scores", np.diff(steps, axis=1, prepend=first), digits=digits)


def score_digits(scores: Float32Array) -> int:
    """Digits after the decimal point to store: 5 digits in all, at most 4 of them decimals."""
    highest = float(np.abs(scores).max(initial=0))
    return max(0, MAX_SCORE_DIGITS - len(str(int(highest))) + 1)


def _field(space: Space, i: int, field: Field, writer: _SectionWriter) -> dict[str, object]:
    _check(space, f"values of {field.name}", len(field.values), len(space.keys))
    if field.kind == "number":
        single = field.values.astype(np.float32)
        exact = np.array_equal(single, field.values, equal_nan=True)
        writer.array(f"field-{i}", single if exact else field.values.astype(np.float64))
    else:
        values = field.values.astype(np.int32)
        if values.max(initial=-1) >= len(field.labels):
            raise InvalidArgumentError(f"{space.name}: {field.name} has no label {values.max()}")
        writer.array(f"field-{i}", values)
    labels = [printable(label) for label in field.labels]
    return {"name": printable(field.name), "kind": field.kind, "labels": labels}


def _check(space: Space, what: str, count: int, points: int) -> None:
    if count != points:
        raise InvalidArgumentError(f"{space.name}: {count:,} {what} for {points:,} points")
