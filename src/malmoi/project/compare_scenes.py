"""Two sets of points made comparable: the same keys, and aligned pictures."""

from dataclasses import replace

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.errors import InvalidArgumentError
from malmoi.project.points.points import MIN_POINTS, Points
from malmoi.project.scene import Space


def shared(first: Points, second: Points) -> tuple[Points, Points]:
    """The points of the keys that both sets have, in the order of the first; a key counts once."""
    row_by_key = {key: row for row, key in reversed(list(enumerate(second.vectors.keys)))}
    pairs = {
        key: (row, row_by_key[key])
        for row, key in reversed(list(enumerate(first.vectors.keys)))
        if key in row_by_key
    }
    rows = np.array(sorted(pairs.values()), dtype=np.int64).reshape(-1, 2)
    if len(rows) < MIN_POINTS:
        raise InvalidArgumentError(
            f"{first.name} and {second.name} share {len(rows)} keys: a picture needs {MIN_POINTS}"
            " or more"
        )
    return _selected(first, rows[:, 0]), _selected(second, rows[:, 1])


def _selected(points: Points, rows: Int64Array) -> Points:
    note = f"{len(rows):,} keys shared, of {len(points.vectors):,} in {points.name}"
    return points.take(rows).with_notes(note)


def align(space: Space, like: Space) -> Space:
    """A space whose coordinates are rotated, mirrored and scaled to match another's."""
    return replace(
        space,
        coords_2d=procrustes(space.coords_2d, like.coords_2d),
        coords_3d=procrustes(space.coords_3d, like.coords_3d),
        notes=(*space.notes, f"rotated and scaled to match {like.name} (Procrustes)"),
    )


def procrustes(coords: Float32Array, like: Float32Array) -> Float32Array:
    """Coordinates moved, rotated, mirrored and scaled to fit those of `like`, row by row."""
    own = coords.astype(np.float64) - coords.mean(axis=0, dtype=np.float64)
    centre = like.mean(axis=0, dtype=np.float64)
    left, sizes, right = np.linalg.svd(own.T @ (like - centre))
    spread = (own * own).sum()
    scale = sizes.sum() / spread if spread else 1.0
    moved: Float32Array = (scale * own @ left @ right + centre).astype(np.float32)
    return moved
