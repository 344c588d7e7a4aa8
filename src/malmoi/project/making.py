"""Points to a scene: each set is reduced, its neighbours are listed, its fields gathered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from malmoi.errors import BadSetting
from malmoi.nearest.ranking import Metric, unit
from malmoi.project.clusters import cluster_field
from malmoi.project.coarse import coarse_rows
from malmoi.project.comparing import shared, turned
from malmoi.project.kept import kept_share
from malmoi.project.near import near_among, near_lists
from malmoi.project.points import Points, drawable
from malmoi.project.reduction import Method, check_method, reduce
from malmoi.project.scene import Near, Scene, Space
from malmoi.project.stages import Watch, unwatched
from malmoi.project.tsne import LINKS
from malmoi.vectors import Vectors

CLUSTERS = 12  # at most, where nobody says how many
COARSE = 128 << 20  # bytes of vectors that a page still carries


@dataclass(frozen=True, kw_only=True)
class Projection:
    """How vectors become a picture."""

    method: Method = "auto"
    """PCA, t-SNE, PaCMAP, or what suits the number of points."""
    metric: Literal["cosine", "euclidean"] = "cosine"
    """What is near: the angle between two vectors, or the distance."""
    neighbours: int = 10
    """How many nearest points each one lists."""
    clusters: int | None = None
    """How many clusters to colour by; 0 for none."""
    seed: int = 1
    """Same seed: same picture."""

    def __post_init__(self) -> None:
        check_method(self.method)
        if self.metric not in ("cosine", "euclidean"):
            raise BadSetting(f"a picture shows cosine or euclidean, not '{self.metric}'")
        if self.neighbours < 1:
            raise BadSetting(f"neighbours is {self.neighbours}: it is at least 1")
        if self.clusters is not None and self.clusters < 0:
            raise BadSetting(f"clusters is {self.clusters}: it is at least 0")
        if self.seed < 0:
            raise BadSetting(f"seed is {self.seed}: it is at least 0")

    def cluster_count(self, points: int) -> int:
        """How many clusters to look for among so many points."""
        few = CLUSTERS if self.clusters is None else self.clusters
        return min(few, max(2, round((points / 2) ** 0.5)) if self.clusters is None else points)


def make_scene(
    *sets: Points | Vectors,
    settings: Projection | None = None,
    title: str | None = None,
    watch: Watch = unwatched,
) -> Scene:
    """A picture of one set of points, or of two side by side, of the keys that both have."""
    if not 1 <= len(sets) <= 2:
        raise BadSetting(f"a page shows one set of vectors or two, not {len(sets)}")
    settings = settings or Projection()
    points = [one if isinstance(one, Points) else Points("vectors", one) for one in sets]
    title = title or " and ".join(one.name for one in points)
    if len(points) == 1:
        return Scene(title, (_space(drawable(points[0]), settings, watch),))
    first, second = (
        _space(one, settings, watch) for one in shared(*(drawable(one) for one in points))
    )
    return Scene(title, (first, turned(second, first)))


def _space(points: Points, settings: Projection, watch: Watch) -> Space:
    vectors, k = points.vectors, settings.neighbours
    links = near_lists(vectors, max(k, LINKS), progress=watch("finding neighbours"))
    shown = unit(vectors.matrix) if settings.metric == "cosine" else vectors.matrix
    here = links[settings.metric]
    picture = reduce(shown, here, settings.method, seed=settings.seed, watch=watch)
    near: Mapping[Metric, Near] = {metric: _first(each, k) for metric, each in links.items()}
    others: Sequence[str] = ()
    kept = kept_share(near[settings.metric], picture.plane, seed=settings.seed)
    if points.rest is not None:
        progress = watch("finding neighbours among all")
        near, named = near_among(vectors, points.rest, k, progress=progress)
        others = named.keys
    clusters = settings.cluster_count(len(vectors))
    if clusters > 1:
        found = cluster_field(vectors.keys, shown, clusters, seed=settings.seed)
        points = points.with_fields(found)
    if vectors.matrix.size > COARSE:
        points = points.with_notes("too large for the page to ask with: neighbours are listed only")
    return Space(
        name=points.name,
        keys=vectors.keys,
        plane=picture.plane,
        solid=picture.solid,
        reduction=picture.method,
        kept=kept,
        near=near,
        coarse=coarse_rows(vectors.matrix) if vectors.matrix.size <= COARSE else None,
        fields=points.fields,
        details=points.details,
        notes=(*points.notes, *picture.notes),
        others=others,
    )


def _first(near: Near, k: int) -> Near:
    return Near(near.rows[:, :k], near.scores[:, :k])
