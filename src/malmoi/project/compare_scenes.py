"""Two sets of points made comparable: the same keys, and pictures that lie alike."""

from dataclasses import replace

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.errors import InvalidArgumentError
from malmoi.project.points.points import FEWEST, Points
from malmoi.project.scene import Space


def shared(first: Points, second: Points) -> tuple[Points, Points]:
    """The points of the keys that both have, in the first one's order; a key counts once."""
    place = {key: row for row, key in reversed(list(enumerate(second.vectors.keys)))}
    pairs = {
        key: (row, place[key])
        for row, key in reversed(list(enumerate(first.vectors.keys)))
        if key in place
    }
    rows = np.array(sorted(pairs.values()), dtype=np.int64).reshape(-1, 2)
    if len(rows) < FEWEST:
        raise InvalidArgumentError(
            f"{first.name} and {second.name} share {len(rows)} keys: a picture takes {FEWEST}"
            " or more"
        )
    return _taken(first, rows[:, 0]), _taken(second, rows[:, 1])


def _taken(points: Points, rows: Int64Array) -> Points:
    said = f"{len(rows):,} keys shared, of {len(points.vectors):,} in {points.name}"
    return points.take(rows).with_notes(said)


def turned(space: Space, like: Space) -> Space:
    """A space whose pictures are turned, mirrored and scaled to lie as another's do."""
    return replace(
        space,
        coords_2d=procrustes(space.coords_2d, like.coords_2d),
        coords_3d=procrustes(space.coords_3d, like.coords_3d),
        notes=(*space.notes, f"turned and scaled to lie as {like.name} does (Procrustes)"),
    )


def procrustes(places: Float32Array, like: Float32Array) -> Float32Array:
    """Places moved, turned, mirrored and scaled to be nearest to those of `like`, row by row."""
    own = places.astype(np.float64) - places.mean(axis=0, dtype=np.float64)
    centre = like.mean(axis=0, dtype=np.float64)
    left, sizes, right = np.linalg.svd(own.T @ (like - centre))
    spread = (own * own).sum()
    scale = sizes.sum() / spread if spread else 1.0
    moved: Float32Array = (scale * own @ left @ right + centre).astype(np.float32)
    return moved
