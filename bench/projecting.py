"""How fast vectors become a picture: neighbours and components beside scikit-learn's."""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from bench.data import Data
from bench.measure import Figure, best_of, faster, say
from malmoi.arrays import Float32Array
from malmoi.nearest.all_pairs import rank_all_pairs
from malmoi.project.neighbour_preservation import preserved_share, sample_points
from malmoi.project.reduce.nearest_points import near_lists
from malmoi.project.reduce.pca import principal_components
from malmoi.project.reduce.reduction import ReductionMethod, reduce
from malmoi.project.reduce.tsne import NEIGHBOURS
from malmoi.vectors import Vectors, l2_normalize

ROUNDS = 3
ROWS, DRAWN, LISTED = 10_000, 5000, 10
METHODS: tuple[ReductionMethod, ...] = ("pca", "tsne", "pacmap")


def run(data: Data) -> Iterator[Figure]:
    """Neighbours of all rows by two metrics, components; then, said, what each picture keeps."""
    vectors = data.glove
    yield neighbours(vectors[:ROWS])
    yield components(vectors)
    for method in METHODS:
        tell(vectors[:DRAWN], method)


def neighbours(vectors: Vectors) -> Figure:
    """Ours by both metrics at once; scikit-learn's brute force by one and the other."""
    from sklearn.neighbors import NearestNeighbors

    def peer() -> None:
        for metric in ("cosine", "euclidean"):
            model: Any = NearestNeighbors(
                n_neighbors=LISTED, metric=metric, algorithm="brute", n_jobs=-1
            )
            model.fit(vectors.matrix).kneighbors()

    rank_all_pairs(vectors[:100], LISTED)  # compiled once
    ours, theirs = best_of(ROUNDS, partial(rank_all_pairs, vectors, LISTED), peer)
    return faster(f"nearest 10, {ROWS:,} rows", ours, theirs, None)


def components(vectors: Vectors) -> Figure:
    """Three components of all rows."""
    from sklearn.decomposition import PCA

    matrix: Float32Array = np.asarray(vectors.matrix)
    ours, theirs = best_of(
        ROUNDS,
        partial(principal_components, matrix, 3),
        partial(PCA(3, svd_solver="covariance_eigh").fit_transform, matrix),
    )
    return faster(f"PCA, {len(vectors):,} rows", ours, theirs, None)


def tell(vectors: Vectors, method: ReductionMethod) -> None:
    """How long a picture takes, and how many of the nearest ten it keeps."""
    links = near_lists(vectors, NEIGHBOURS)["cosine"]
    start = time.perf_counter()
    picture = reduce(l2_normalize(vectors.matrix), links, method)
    took = time.perf_counter() - start
    asked = sample_points(len(vectors))
    near = links.rows[asked, :LISTED]
    flat, solid = (
        preserved_share(asked, near, places) for places in (picture.coords_2d, picture.coords_3d)
    )
    say(f"{method}, {len(vectors):,} words: {took:.1f} s; keeps {flat:.0%} flat, {solid:.0%} solid")
