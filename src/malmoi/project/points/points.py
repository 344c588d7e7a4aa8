"""Points: vectors with fields, details and notes, the input of a scene.

Words, texts and occurrences become points. Knows nothing of reduction.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from malmoi.errors import InvalidArgumentError
from malmoi.project.scene import Field, LabelledBy
from malmoi.vectors import Vectors

MIN_POINTS = 3  # of a picture


@dataclass(frozen=True, eq=False)
class Points:
    """Vectors to be drawn under a name, with fields to colour by and a text for each.

    Args:
        name: The name of the points, for the title of the page.
        vectors: The vectors to draw; their keys identify the points.
        fields: Values to colour by, one per point.
        details: A text per point, shown beside it.
        notes: Sentences about the points, shown on the page.
        rest: Vectors that are not drawn, but may be neighbours of those that are.
        first: The field that the page opens with; by default the most telling field of labels,
            or else clusters.
        labelled_by: Whether the page labels points by their key, or by how their text begins.

    Raises:
        InvalidArgumentError: A field or `details` has another length than `vectors`.
    """

    name: str
    vectors: Vectors
    fields: tuple[Field, ...] = ()
    details: Sequence[str] | None = None
    notes: tuple[str, ...] = ()
    rest: Vectors | None = None
    first: str | None = None
    labelled_by: LabelledBy = "key"

    def __post_init__(self) -> None:
        for what, column in [(field.name, field.values) for field in self.fields] + (
            [] if self.details is None else [("details", self.details)]
        ):
            if len(column) != len(self.vectors):
                raise InvalidArgumentError(
                    f"{len(column)} values of '{what}' for {len(self.vectors)} points"
                    f" of {self.name}"
                )
        if self.labelled_by == "text" and self.details is None:
            raise InvalidArgumentError(
                f"{self.name} has no texts to label its points by: pass them as details"
            )

    @property
    def texts(self) -> Sequence[str] | None:
        """The texts that points are labelled by; None if they are labelled by their keys."""
        return self.details if self.labelled_by == "text" else None

    def take(self, rows: npt.NDArray[np.int64]) -> "Points":
        """The points of these rows, in this order."""
        details = None if self.details is None else [self.details[row] for row in rows.tolist()]
        return replace(
            self,
            vectors=self.vectors.take(rows),
            fields=tuple(replace(one, values=one.values[rows]) for one in self.fields),
            details=details,
        )

    def with_fields(self, *fields: Field) -> "Points":
        """The same points with more fields."""
        return replace(self, fields=(*self.fields, *fields))

    def with_notes(self, *notes: str) -> "Points":
        """The same points with more notes."""
        return replace(self, notes=(*self.notes, *notes))


def drawable(points: Points) -> Points:
    """The points with finite vectors; raises if there are too few or all are equal."""
    is_finite = _finite_rows(points.vectors)
    if not is_finite.all():
        first = points.vectors.keys[int(np.argmin(is_finite))]
        dropped = int(len(is_finite) - is_finite.sum())
        points = points.take(np.flatnonzero(is_finite)).with_notes(
            f"{dropped:,} left out: not finite, the first '{first}'"
        )
    if points.rest is not None and not (is_finite := _finite_rows(points.rest)).all():
        points = replace(points, rest=points.rest.take(np.flatnonzero(is_finite)))
    matrix = points.vectors.matrix
    if len(matrix) < MIN_POINTS or matrix.shape[1] == 0:
        raise InvalidArgumentError(
            f"{points.name} has {len(matrix)} vectors of {matrix.shape[1]} dimensions to draw:"
            f" a picture needs {MIN_POINTS} or more"
        )
    if not (matrix != matrix[0]).any():
        raise InvalidArgumentError(
            f"all {len(matrix):,} vectors of {points.name} are equal: there is nothing to draw"
        )
    empty = len(matrix) - int(np.count_nonzero(points.vectors.norms))
    if empty:
        points = points.with_notes(f"{empty:,} vectors are all zeros: they are near to nothing")
    return points


def _finite_rows(vectors: Vectors) -> npt.NDArray[np.bool_]:
    """The mask of rows whose numbers are all finite."""
    with np.errstate(invalid="ignore"):
        sums = vectors.matrix.sum(axis=1, dtype=np.float64)
    finite: npt.NDArray[np.bool_] = np.isfinite(sums)
    return finite
