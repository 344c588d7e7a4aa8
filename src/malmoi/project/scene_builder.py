"""Build a scene from points: reduce dimensions, list neighbours, collect fields."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError
from malmoi.nearest.top_k import Metric
from malmoi.project.compare_scenes import align, shared
from malmoi.project.neighbour_preservation import preserved_share, sample_points
from malmoi.project.points.point_clusters import CLUSTER, cluster_field
from malmoi.project.points.points import Points, drawable
from malmoi.project.points.telling_field import telling_field
from malmoi.project.reduce.nearest_points import near_among, near_lists
from malmoi.project.reduce.reduction import ReductionMethod, check_method, reduce
from malmoi.project.reduce.tsne import NEIGHBOURS
from malmoi.project.scene import Field, Int8Vectors, Near, Scene, Space
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.vectors import Vectors, l2_normalize

MAX_CLUSTERS = 12  # of the default
MAX_QUANTIZED_NUMBERS = 128 << 20  # larger matrices are not embedded in the page
INT8_STEPS = 127


@dataclass(frozen=True, kw_only=True)
class ProjectionSettings:
    """How vectors are reduced to a picture."""

    method: ReductionMethod = "auto"
    """PCA, t-SNE, PaCMAP, or the one that suits the number of points."""
    metric: Literal["cosine", "euclidean"] = "cosine"
    """Which vectors are near: by cosine or by Euclidean distance."""
    neighbours: int = 10
    """How many nearest points to list per point."""
    clusters: int | None = None
    """How many clusters to colour by; 0 for none."""
    seed: int = 1
    """Same seed: same picture."""

    def __post_init__(self) -> None:
        check_method(self.method)
        if self.metric not in ("cosine", "euclidean"):
            raise InvalidArgumentError(f"metric must be cosine or euclidean, not '{self.metric}'")
        if self.neighbours < 1:
            raise InvalidArgumentError(f"neighbours must be at least 1; got {self.neighbours}")
        if self.clusters is not None and self.clusters < 0:
            raise InvalidArgumentError(f"clusters must be at least 0; got {self.clusters}")
        if self.seed < 0:
            raise InvalidArgumentError(f"seed must be at least 0; got {self.seed}")

    def cluster_count(self, points: int) -> int:
        """How many clusters to make of so many points."""
        count = MAX_CLUSTERS if self.clusters is None else self.clusters
        return min(count, max(2, round((points / 2) ** 0.5)) if self.clusters is None else points)


DEFAULT = ProjectionSettings()


def build_scene(
    *sets: Points | Vectors,
    settings: ProjectionSettings | None = None,
    title: str | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Scene:
    """Reduce one set of points to a scene, or two sets side by side.

    Args:
        sets: One or two `Points` or `Vectors`; of two, the keys that both have are drawn.
        settings: Method, metric, neighbours, clusters and seed.
        title: The title of the page; by default the names of the points.
        reporter: Receives the progress and warnings.

    Returns:
        The scene, for `write_page`.

    Raises:
        InvalidArgumentError: There are fewer than three points, all vectors are equal, or two
            sets share too few keys.
        MissingDependencyError: The method needs the extra `project`.
    """
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
    return Scene(title, (first, align(second, first)))


def _space(
    points: Points, settings: ProjectionSettings, reporter: Reporter, clusters: Field | None = None
) -> Space:
    vectors, k = points.vectors, settings.neighbours
    links = near_lists(vectors, max(k, NEIGHBOURS), progress=reporter.stage("finding neighbours"))
    matrix = l2_normalize(vectors.matrix) if settings.metric == "cosine" else vectors.matrix
    metric_links = links[settings.metric]
    picture = reduce(matrix, metric_links, settings.method, seed=settings.seed, reporter=reporter)
    near: Mapping[Metric, Near] = {metric: _first(each, k) for metric, each in links.items()}
    others: Sequence[str] = ()
    sample_rows = sample_points(len(vectors), seed=settings.seed)
    sample_near = near[settings.metric].rows[sample_rows].astype(np.int64)
    preserved = preserved_share(sample_rows, sample_near, picture.coords_2d)
    if points.rest is not None:
        progress = reporter.stage("finding neighbours among all")
        near, named = near_among(vectors, points.rest, k, progress=progress)
        others = named.keys
    count = settings.cluster_count(len(vectors))
    first = points.first or telling_field(points.fields, sample_rows, sample_near)
    if clusters is None and count > 1:
        clusters = cluster_field(
            vectors.keys, matrix, count, texts=points.texts, seed=settings.seed
        )
    if clusters is not None:
        points = points.with_fields(clusters)
    if vectors.matrix.size > MAX_QUANTIZED_NUMBERS:
        points = points.with_notes("too large for queries in the page: neighbours are listed only")
    return Space(
        name=points.name,
        keys=vectors.keys,
        coords_2d=picture.coords_2d,
        coords_3d=picture.coords_3d,
        reduction=picture.method,
        neighbour_preservation=preserved,
        near=near,
        coarse=quantize_rows(vectors.matrix)
        if vectors.matrix.size <= MAX_QUANTIZED_NUMBERS
        else None,
        fields=ordered_fields(points.fields, first),
        details=points.details,
        notes=(*points.notes, *picture.notes),
        others=others,
        labelled_by=points.labelled_by,
    )


def ordered_fields(fields: Sequence[Field], first: str | None) -> tuple[Field, ...]:
    """The fields, with the one that the page opens with in front; by default clusters."""
    return tuple(sorted(fields, key=lambda field: field.name != (first or CLUSTER)))


def _first(near: Near, k: int) -> Near:
    return Near(near.rows[:, :k], near.scores[:, :k])


def quantize_rows(matrix: Float32Array) -> Int8Vectors:
    """Quantize each row in steps of 1/127 of its largest number; the error is half a step."""
    largest = np.abs(matrix).max(axis=1)
    scales = (largest / np.float32(INT8_STEPS)).astype(np.float32)
    steps = np.where(scales == 0, np.float32(1), scales)
    rounded = np.rint(matrix / steps[:, np.newaxis])
    return Int8Vectors(np.clip(rounded, -INT8_STEPS, INT8_STEPS).astype(np.int8), scales)
