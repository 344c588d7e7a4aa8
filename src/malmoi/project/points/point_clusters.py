"""Clusters of points by k-means, named by central keys or by the keywords of their texts."""

from collections.abc import Sequence

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.nearest.k_means import find_clusters
from malmoi.project.points.keywords import cluster_keywords
from malmoi.project.scene import Field

CLUSTER = "cluster"  # the field's name
KEYS_PER_NAME = 3  # keys in a name


def cluster_field(
    keys: Sequence[str],
    matrix: Float32Array,
    count: int,
    *,
    texts: Sequence[str] | None = None,
    seed: int = 1,
) -> Field:
    """The cluster of each point, named by its most central keys or the keywords of its texts."""
    which, centres = find_clusters(matrix, count, seed=seed)
    if texts is not None:
        names = cluster_keywords(texts, which, unnamed=CLUSTER)
        return Field(CLUSTER, "label", which, tuple(names))
    labels = []
    for cluster, centre in enumerate(centres):
        inside = np.flatnonzero(which == cluster)
        distances = ((matrix[inside] - centre) ** 2).sum(axis=1)
        middle = inside[np.lexsort((inside, distances))[:KEYS_PER_NAME]]
        labels.append(", ".join(keys[row] for row in middle.tolist()))
    return Field(CLUSTER, "label", which, tuple(labels))
