"""What the page shows, as values: points, where they are drawn, and what is known of each.

Knows nothing of how places are found, nor of HTML.
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
    """Something known of each point that it can be coloured by: a number, or one of `labels`."""

    name: str
    kind: Literal["number", "label"]
    values: npt.NDArray[np.floating[Any]] | npt.NDArray[np.int32]  # [points]; of labels, which
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Near:
    """The nearest points of each point among all vectors, not among what the picture shows."""

    rows: npt.NDArray[np.uint32]  # [points, k]
    scores: Float32Array  # [points, k]


@dataclass(frozen=True, eq=False)
class Int8Vectors:
    """Vectors as bytes: row i is about bytes[i] · scales[i]."""

    bytes: npt.NDArray[np.int8]  # [points, dim]
    scales: Float32Array  # [points]


@dataclass(frozen=True, eq=False)
class Space:
    """One model's points.

    `kept` is the share of each point's nearest that are nearest in the picture too; `details`
    is a line to show with a point, such as the sentence that it stands in. Where only some
    vectors are drawn, `others` are the rest of them: row len(keys) + i of `near` is others[i].
    """

    name: str
    keys: Sequence[str]
    plane: Float32Array  # [points, 2]
    solid: Float32Array  # [points, 3]
    reduction: str
    kept: float
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
