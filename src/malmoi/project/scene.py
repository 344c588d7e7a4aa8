"""The scene that a page shows, as values: points, their coordinates and fields.

Knows nothing of how coordinates are computed, nor of HTML: `Scene.show` leaves that to `page/`,
which it imports when it is called.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.nearest.top_k import Metric

LabelledBy = Literal["key", "text"]


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
    the picture too. `details` are texts to show with the points, such as sentences; the page
    labels points by their key, or by how these texts begin. The first field is the one that the
    page opens with. Where only some vectors are drawn, `others` are the rest: row len(keys) + i of
    `near` is others[i].
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
    labelled_by: LabelledBy = "key"


@dataclass(frozen=True, eq=False)
class Scene:
    """A page: one space, or two side by side. In a notebook, it displays itself."""

    title: str
    spaces: tuple[Space, ...]

    def show(self) -> Path | None:
        """Open the page: below the cell of a notebook, or else in the browser.

        Returns:
            The temporary file that the browser was told to open; None in a notebook.

        Raises:
            InvalidArgumentError: The scene is empty or holds numbers that are not finite.
        """
        from malmoi.project.page.display import show

        return show(self)

    def __repr__(self) -> str:
        spaces = (f"{len(each.keys):,} points by {each.reduction}" for each in self.spaces)
        return f"Scene({self.title}: {', '.join(spaces)})"

    def _repr_html_(self) -> str:
        """The page in a frame, for notebooks."""
        from malmoi.project.page.display import as_frame

        return as_frame(self)
