"""Reduce vectors to two and three dimensions, by the method that suits the number of points."""

from dataclasses import dataclass
from typing import Literal, get_args

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError, MissingDependencyError
from malmoi.project.reduce.pacmap import pacmap
from malmoi.project.reduce.pca import principal_components
from malmoi.project.reduce.tsne import tsne
from malmoi.project.scene import Near
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter

ReductionMethod = Literal["auto", "pca", "tsne", "pacmap"]
NAMES = {"pca": "PCA", "tsne": "t-SNE", "pacmap": "PaCMAP"}
PCA_BELOW = 50  # points: PCA is as good for fewer
PACMAP_ABOVE = 50_000  # points: t-SNE takes too long for more


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The coordinates of points, the method, and notes."""

    coords_2d: Float32Array  # [points, 2]
    coords_3d: Float32Array  # [points, 3]
    method: str
    notes: tuple[str, ...] = ()


def check_method(method: str) -> None:
    """Raise `InvalidArgumentError` for an unknown method."""
    if method not in get_args(ReductionMethod):
        raise InvalidArgumentError(
            f"'{method}' is not a method: choose one of {', '.join(get_args(ReductionMethod))}"
        )


def reduce(
    matrix: Float32Array,
    near: Near,
    method: ReductionMethod = "auto",
    *,
    seed: int = 1,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Coordinates:
    """Reduce the rows of a matrix [points, dim]; `near` are their nearest rows.

    `auto` chooses by the number of points, and PCA if the extra `project` is missing.
    """
    check_method(method)
    start = principal_components(matrix, 3)
    chosen = choose_method(len(matrix)) if method == "auto" else method
    try:
        if chosen == "tsne":
            return _by_tsne(matrix, near, start, seed, reporter)
        if chosen == "pacmap":
            return _by_pacmap(matrix, near, start, seed, reporter)
    except MissingDependencyError as missing:
        if method != "auto":
            raise
        return by_pca(start, f"drawn by PCA: {missing}")
    return by_pca(start)


def choose_method(points: int) -> ReductionMethod:
    """The method that suits a number of points."""
    if points < PCA_BELOW:
        return "pca"
    return "tsne" if points <= PACMAP_ABOVE else "pacmap"


def by_pca(start: Float32Array, *notes: str) -> Coordinates:
    """The picture of principal components [points, 3]."""
    return Coordinates(start[:, :2].copy(), start, NAMES["pca"], notes)


def _by_tsne(
    matrix: Float32Array, near: Near, start: Float32Array, seed: int, reporter: Reporter
) -> Coordinates:
    plane = tsne(near, start[:, :2], seed=seed, progress=reporter.stage("t-SNE"))
    # In three dimensions openTSNE has no fast method and takes twenty times as long as PaCMAP.
    solid = pacmap(matrix, near, start, seed=seed, progress=reporter.stage("PaCMAP in 3D"))
    return Coordinates(plane, solid, NAMES["tsne"], ("in three dimensions drawn by PaCMAP",))


def _by_pacmap(
    matrix: Float32Array, near: Near, start: Float32Array, seed: int, reporter: Reporter
) -> Coordinates:
    plane = pacmap(matrix, near, start[:, :2], seed=seed, progress=reporter.stage("PaCMAP"))
    solid = pacmap(matrix, near, start, seed=seed, progress=reporter.stage("PaCMAP in 3D"))
    return Coordinates(plane, solid, NAMES["pacmap"])
