"""Points to a scene: each set is reduced, its neighbours are listed, its fields gathered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from malmoi.errors import InvalidArgumentError
from malmoi.nearest.top_k import Metric
from malmoi.project.compare_scenes import shared, turned
from malmoi.project.int8_vectors import coarse_rows
from malmoi.project.neighbour_preservation import kept_share, sampled
from malmoi.project.points.point_clusters import CLUSTER, cluster_field
from malmoi.project.points.points import Points, drawable
from malmoi.project.reduce.nearest_points import near_among, near_lists, nearest_of
from malmoi.project.reduce.pca import principal_components
from malmoi.project.reduce.reduction import NAMES, Method, check_method, reduce
from malmoi.project.reduce.tsne import LINKS
from malmoi.project.scene import Field, Near, Scene, Space
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.vectors import Vectors, l2_normalize

CLUSTERS = 12  # at most, where nobody says how many
COARSE = 128 << 20  # bytes of vectors that a page still carries


@dataclass(frozen=True, kw_only=True)
class ProjectionSettings:
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
            raise InvalidArgumentError(f"a picture shows cosine or euclidean, not '{self.metric}'")
        if self.neighbours < 1:
            raise InvalidArgumentError(f"neighbours is {self.neighbours}: it is at least 1")
        if self.clusters is not None and self.clusters < 0:
            raise InvalidArgumentError(f"clusters is {self.clusters}: it is at least 0")
        if self.seed < 0:
            raise InvalidArgumentError(f"seed is {self.seed}: it is at least 0")

    def cluster_count(self, points: int) -> int:
        """How many clusters to look for among so many points."""
        few = CLUSTERS if self.clusters is None else self.clusters
        return min(few, max(2, round((points / 2) ** 0.5)) if self.clusters is None else points)


DEFAULT = ProjectionSettings()


def build_scene(
    *sets: Points | Vectors,
    settings: ProjectionSettings | None = None,
    title: str | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Scene:
    """A picture of one set of points, or of two side by side, of the keys that both have."""
    if not 1 <= len(sets) <= 2:
        raise InvalidArgumentError(f"a page shows one set of vectors or two, not {len(sets)}")
    settings = settings or DEFAULT
    points = [one if isinstance(one, Points) else Points("vectors", one) for one in sets]
    title = title or " and ".join(one.name for one in points)
    if len(points) == 1:
        return Scene(title, (_space(drawable(points[0]), settings, reporter),))
    one, other = shared(*(drawable(one) for one in points))
    first = _space(one, settings, reporter)
    alike = next((field for field in first.fields if field.name == CLUSTER), None)
    second = _space(other, settings, reporter, clusters=alike)
    return Scene(title, (first, turned(second, first)))


def make_live_scene(points: Points) -> Scene:
    """A picture at once, by PCA, for a page that asks a server for neighbours and analogies."""
    points = drawable(points)
    vectors, shown = points.vectors, l2_normalize(points.vectors.matrix)
    solid = principal_components(shown, 3)
    asked = sampled(len(vectors))
    found = cluster_field(vectors.keys, shown, DEFAULT.cluster_count(len(vectors)))
    space = Space(
        name=points.name,
        keys=vectors.keys,
        coords_2d=solid[:, :2],
        coords_3d=solid,
        reduction=NAMES["pca"],
        neighbour_preservation=kept_share(
            asked, nearest_of(vectors, asked, DEFAULT.neighbours), solid[:, :2]
        ),
        near={},
        fields=_ordered(points.with_fields(found).fields, points.first or CLUSTER),
        details=points.details,
        notes=points.notes,
    )
    return Scene(points.name, (space,))


def _space(
    points: Points, settings: ProjectionSettings, reporter: Reporter, clusters: Field | None = None
) -> Space:
    vectors, k = points.vectors, settings.neighbours
    links = near_lists(vectors, max(k, LINKS), progress=reporter.stage("finding neighbours"))
    shown = l2_normalize(vectors.matrix) if settings.metric == "cosine" else vectors.matrix
    here = links[settings.metric]
    picture = reduce(shown, here, settings.method, seed=settings.seed, reporter=reporter)
    near: Mapping[Metric, Near] = {metric: _first(each, k) for metric, each in links.items()}
    others: Sequence[str] = ()
    asked = sampled(len(vectors), seed=settings.seed)
    kept = kept_share(asked, near[settings.metric].rows[asked], picture.coords_2d)
    if points.rest is not None:
        progress = reporter.stage("finding neighbours among all")
        near, named = near_among(vectors, points.rest, k, progress=progress)
        others = named.keys
    count = settings.cluster_count(len(vectors))
    if clusters is None and count > 1:
        clusters = cluster_field(vectors.keys, shown, count, seed=settings.seed)
    if clusters is not None:
        points = points.with_fields(clusters)
    if vectors.matrix.size > COARSE:
        points = points.with_notes("too large for the page to ask with: neighbours are listed only")
    return Space(
        name=points.name,
        keys=vectors.keys,
        coords_2d=picture.coords_2d,
        coords_3d=picture.coords_3d,
        reduction=picture.method,
        neighbour_preservation=kept,
        near=near,
        coarse=coarse_rows(vectors.matrix) if vectors.matrix.size <= COARSE else None,
        fields=_ordered(points.fields, points.first or CLUSTER),
        details=points.details,
        notes=(*points.notes, *picture.notes),
        others=others,
    )


def _ordered(fields: Sequence[Field], first: str) -> tuple[Field, ...]:
    """The one that the page is to begin with before the others."""
    return tuple(sorted(fields, key=lambda field: field.name != first))


def _first(near: Near, k: int) -> Near:
    return Near(near.rows[:, :k], near.scores[:, :k])
