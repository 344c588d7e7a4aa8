"""The scene that a page shows, as values: points, their coordinates and fields.

Knows nothing of how coordinates are computed, nor of HTML.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.nearest.top_k import Metric


@dataclass(frozen=True, eq=False)
class Field:
    """A value per point to colour by: a number, or one of `labels`."""

    name: str
    kind: Literal["number", "label"]
    values: (
        npt.NDArray[np.floating[Any]] | npt.NDArray[np.int32]
    )  # [points]; of labels, their index
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Near:
    """The nearest points of each point among all vectors, not among what the picture shows."""

    rows: npt.NDArray[np.uint32]  # [points, k]
    scores: Float32Array  # [points, k]


@dataclass(frozen=True, eq=False)
class Int8Vectors:
    """Quantized vectors: row i is about bytes[i] · scales[i]."""

    bytes: npt.NDArray[np.int8]  # [points, dim]
    scales: Float32Array  # [points]


@dataclass(frozen=True, eq=False)
class Space:
    """One model's points.

    `neighbour_preservation` is the share of each point's nearest points that are its nearest in
    the picture too. `details` are lines to show with the points, such as sentences. Where only
    some vectors are drawn, `others` are the rest: row len(keys) + i of `near` is others[i].
    """

    name: str
    keys: Sequence[str]
    coords_2d: Float32Array  # [points, 2]
    coords_3d: Float32Array  # [points, 3]
    reduction: str
    neighbour_preservation: float
    near: Mapping[Metric, Near]
    coarse: Int8Vectors | None = None
    fields: tuple[Field, ...] = ()
    details: Sequence[str] | None = None
    notes: tuple[str, ...] = ()
    others: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Scene:
    """A page: one space, or two side by side."""

    title: str
    spaces: tuple[Space, ...]
