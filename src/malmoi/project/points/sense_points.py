"""The senses of a word: clusters of its occurrences, each named by the keywords of its texts.

Knows nothing of encoders.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from malmoi.arrays import Float32Array, Int32Array
from malmoi.nearest.k_means import find_clusters
from malmoi.nearest.silhouette import silhouette
from malmoi.project.points.keywords import cluster_keywords
from malmoi.project.points.points import Points, drawable
from malmoi.project.reduce.pca import principal_components
from malmoi.project.scene import Field
from malmoi.vectors import Vectors, l2_normalize

MAX_SENSES = 8
MIN_SILHOUETTE = 0.1  # below, the word has one sense
CLUSTER_DIMENSIONS = 20  # principal components to cluster in: the others are mostly noise
SILHOUETTE_SAMPLE = 1000  # occurrences
MIN_SENSE_SHARE = 0.02  # of the occurrences: smaller clusters are outliers


def sense_points(
    word: str, keys: Sequence[str], matrix: Float32Array, texts: Sequence[str], *, seed: int = 1
) -> Points:
    """The occurrences of a word as points, coloured by sense.

    Args:
        word: The word.
        keys: The word as it is written in each occurrence.
        matrix: One vector per occurrence, [occurrences, dim].
        texts: The text of each occurrence.
        seed: Same seed: same senses.

    Returns:
        The points, for `build_scene`; senses are named by the keywords of their texts, and a note
        counts them.

    Raises:
        InvalidArgumentError: There are fewer than three occurrences, all vectors are equal, or
            the arguments differ in length.

    Example:
        texts = ["the bank vault", "a bank clerk", "the river bank", "a muddy bank"]
        found = mm.occurrences(mm.load_transformer("minilm"), "bank", texts)
        points = mm.sense_points("bank", found.keys, found.matrix, found.surroundings)
    """
    points = drawable(Points(word, Vectors(keys, matrix), details=texts))
    which, score = find_senses(points.vectors.matrix, seed=seed)
    senses = int(which.max()) + 1
    assert points.details is not None
    names = cluster_keywords(points.details, which, leave_out={word, *keys})
    summary = "one sense" if senses == 1 else f"{senses} senses (silhouette {score:.2f})"
    note = f"{len(which):,} occurrences of '{word}' in {summary}"
    sense = Field("sense", "label", which, tuple(names))
    points = replace(points, fields=(sense,), first=sense.name)
    return points.with_notes(note)


def find_senses(matrix: Float32Array, *, seed: int = 1) -> tuple[Int32Array, float]:
    """The sense of each occurrence, most frequent first, and the silhouette of the senses.

    The number of senses has the best silhouette; it is one if the best is low.
    """
    units = l2_normalize(matrix)
    reduced = principal_components(units, min(CLUSTER_DIMENSIONS, units.shape[1], len(units)))
    best, best_score = np.zeros(len(matrix), dtype=np.int32), MIN_SILHOUETTE
    for count in range(2, min(MAX_SENSES, len(matrix) - 1) + 1):
        which, _ = find_clusters(reduced, count, seed=seed)
        if np.bincount(which).min() < max(2, MIN_SENSE_SHARE * len(matrix)) or not which.any():
            continue
        score = separation(reduced, which, seed=seed)
        if score > best_score:
            best, best_score = which, score
    return best, best_score if best.any() else 0.0


def separation(matrix: Float32Array, which: Int32Array, *, seed: int = 1) -> float:
    """The silhouette of clusters by Euclidean distance, on a sample of the rows."""
    if len(matrix) > SILHOUETTE_SAMPLE:
        some = np.random.default_rng(seed).choice(len(matrix), SILHOUETTE_SAMPLE, replace=False)
        matrix, which = matrix[some], which[some]
    squares = (matrix * matrix).sum(axis=1, dtype=np.float64)
    products = matrix.astype(np.float64) @ matrix.T
    distances = np.sqrt(np.maximum(squares[:, np.newaxis] + squares - 2 * products, 0))
    np.fill_diagonal(distances, 0)
    clusters, groups = np.unique(which, return_inverse=True)
    return silhouette(distances, groups) if len(clusters) > 1 else 0.0
