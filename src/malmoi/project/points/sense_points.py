"""The senses of a word: its occurrences in clusters, as many as lie apart, each named by the
words that are typical of its texts.

Takes vectors and texts as they are; knows nothing of encoders.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from malmoi.arrays import Float32Array, Int32Array
from malmoi.nearest.silhouette import silhouette
from malmoi.project.points.keywords import typical_words
from malmoi.project.points.point_clusters import find_clusters
from malmoi.project.points.points import Points, drawable
from malmoi.project.reduce.pca import principal_components
from malmoi.project.scene import Field
from malmoi.vectors import Vectors, l2_normalize

MOST = 8  # senses that are looked for
APART = 0.1  # a silhouette below is no islands but one
DIMENSIONS = 20  # in which clusters are looked for: the others are mostly noise
SAMPLE = 1000  # occurrences that a silhouette is measured on
SMALLEST = 0.02  # of the occurrences: fewer are no sense but strays


def sense_points(
    word: str, keys: Sequence[str], matrix: Float32Array, texts: Sequence[str], *, seed: int = 1
) -> Points:
    """The occurrences of a word as points: key, vector and text of each, and which sense it is."""
    points = drawable(Points(word, Vectors(keys, matrix), details=texts))
    which, score = find_senses(points.vectors.matrix, seed=seed)
    senses = int(which.max()) + 1
    assert points.details is not None
    names = typical_words(points.details, which, leave_out={word, *keys})
    found = "one sense" if senses == 1 else f"{senses} senses (silhouette {score:.2f})"
    note = f"{len(which):,} occurrences of '{word}' in {found}"
    sense = Field("sense", "label", which, tuple(names))
    points = replace(points, fields=(sense,), first=sense.name)
    return points.with_notes(note)


def find_senses(matrix: Float32Array, *, seed: int = 1) -> tuple[Int32Array, float]:
    """The sense of each occurrence, most frequent first, and how far apart senses lie.

    As many as give the best silhouette, or one where even that is poor.
    """
    shown = l2_normalize(matrix)
    few = principal_components(shown, min(DIMENSIONS, shown.shape[1], len(shown)))
    best, apart = np.zeros(len(matrix), dtype=np.int32), APART
    for count in range(2, min(MOST, len(matrix) - 1) + 1):
        which, _ = find_clusters(few, count, seed=seed)
        if np.bincount(which).min() < max(2, SMALLEST * len(matrix)) or not which.any():
            continue
        score = separation(few, which, seed=seed)
        if score > apart:
            best, apart = which, score
    return best, apart if best.any() else 0.0


def separation(matrix: Float32Array, which: Int32Array, *, seed: int = 1) -> float:
    """The silhouette of clusters by Euclidean distance, on a sample of the rows."""
    if len(matrix) > SAMPLE:
        some = np.random.default_rng(seed).choice(len(matrix), SAMPLE, replace=False)
        matrix, which = matrix[some], which[some]
    squares = (matrix * matrix).sum(axis=1, dtype=np.float64)
    products = matrix.astype(np.float64) @ matrix.T
    distances = np.sqrt(np.maximum(squares[:, np.newaxis] + squares - 2 * products, 0))
    np.fill_diagonal(distances, 0)
    clusters, groups = np.unique(which, return_inverse=True)
    return silhouette(distances, groups) if len(clusters) > 1 else 0.0
