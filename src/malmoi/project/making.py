"""Vectors to a scene: each set of points is reduced, its neighbours listed, its fields gathered."""

from dataclasses import dataclass
from typing import Literal

from malmoi.errors import BadSetting
from malmoi.nearest.ranking import unit
from malmoi.project.coarse import coarse_rows
from malmoi.project.kept import kept_share
from malmoi.project.near import near_lists
from malmoi.project.pca import principal_components
from malmoi.project.points import Points, drawable
from malmoi.project.scene import Scene, Space
from malmoi.project.stages import Watch, unwatched
from malmoi.vectors import Vectors


@dataclass(frozen=True, kw_only=True)
class Projection:
    """How vectors become a picture."""

    metric: Literal["cosine", "euclidean"] = "cosine"
    """What is near: the angle between two vectors, or the distance."""
    neighbours: int = 10
    """How many nearest points each one lists."""
    seed: int = 1
    """Same seed: same picture."""

    def __post_init__(self) -> None:
        if self.metric not in ("cosine", "euclidean"):
            raise BadSetting(f"a picture shows cosine or euclidean, not '{self.metric}'")
        if self.neighbours < 1:
            raise BadSetting(f"neighbours is {self.neighbours}: it is at least 1")


def make_scene(
    *sets: Points | Vectors,
    settings: Projection | None = None,
    title: str | None = None,
    watch: Watch = unwatched,
) -> Scene:
    """A picture of one set of points, or of two side by side."""
    if not 1 <= len(sets) <= 2:
        raise BadSetting(f"a page shows one set of vectors or two, not {len(sets)}")
    settings = settings or Projection()
    points = [one if isinstance(one, Points) else Points("vectors", one) for one in sets]
    spaces = tuple(_space(drawable(one), settings, watch) for one in points)
    return Scene(title or " and ".join(one.name for one in points), spaces)


def _space(points: Points, settings: Projection, watch: Watch) -> Space:
    vectors = points.vectors
    near = near_lists(vectors, settings.neighbours, progress=watch("finding neighbours"))
    shown = unit(vectors.matrix) if settings.metric == "cosine" else vectors.matrix
    solid = principal_components(shown, 3)
    return Space(
        name=points.name,
        keys=vectors.keys,
        plane=solid[:, :2].copy(),
        solid=solid,
        reduction="PCA",
        kept=kept_share(near[settings.metric], solid[:, :2], seed=settings.seed),
        near=near,
        coarse=coarse_rows(vectors.matrix),
        fields=points.fields,
        details=points.details,
        notes=points.notes,
    )
