"""Rows in clusters, so that a search looks into a few of them only: faiss's IVF (extra `search`).

Rows are kept as short codes of how they differ from the centre of their cluster, and the centres
as short codes too; the best rows are looked at exactly by whoever asks. How many clusters a search
looks into is chosen when they are made, by how many of the ten nearest rows are found. Knows
nothing of texts, nor of which rows live.
"""

from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.util import find_spec
from math import log2, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.errors import BadFile
from malmoi.extras import require
from malmoi.files.output import beside
from malmoi.nearest.ranking import Rows, rank_rows
from malmoi.vectors import Matrix, Vectors, l2_normalize

WORTH = 100_000  # rows: fewer are looked through exactly
RECALL, NEAREST = 0.953, 10  # a little more than the 0.95 that is promised
SAMPLE, SEED = 1000, 1
ROWS_TRAINED, ROUNDS = 128, 12  # a cluster; of k-means
BITS = 4  # a number's code
CANDIDATES = (4, 8, 16, 32)
BY_RESERVOIR = 11  # faiss's way of scanning that is fastest for one query
PROBES = (
    *(2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 50, 52, 54, 56, 58, 60, 64, 72),
    *(80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 512),
)


@dataclass(frozen=True, eq=False)
class Clusters:
    """faiss's index over the rows of the first segment, and how well it finds them."""

    clusters: int
    probes: int  # clusters that a search looks into
    candidates: int  # rows looked at exactly, for each one asked for
    recall: float  # of the ten nearest, on a sample of the rows
    sample: int
    path: Path | None = None

    @property
    def facts(self) -> dict[str, int | float]:
        """What there is to know of them."""
        names = ("clusters", "probes", "candidates", "recall", "sample")
        return {name: getattr(self, name) for name in names}

    @cached_property
    def index(self) -> Any:
        """faiss's own."""
        faiss = require("faiss", extra="search")
        try:
            index = faiss.read_index(str(self.path))
        except RuntimeError as error:
            raise BadFile(f"{self.path} is damaged: build the index anew") from error
        index.nprobe, index.implem = self.probes, BY_RESERVOIR
        return index

    @cached_property
    def _pointer(self) -> Any:
        return require("faiss", extra="search").swig_ptr

    def without_file(self) -> "Clusters":
        """The same, in memory."""
        return _holding(replace(self, path=None), self.index)

    def nearest(self, direction: Matrix, k: int) -> Rows:
        """Rows that are likely to hold the k nearest, and others."""
        count, asked = k * self.candidates, np.ascontiguousarray(direction, np.float32)
        scores, rows = np.empty(count, np.float32), np.empty(count, np.int64)
        asked_at, *found_at = map(self._pointer, (asked, scores, rows))
        self.index.search_c(1, asked_at, count, *found_at)  # `search` itself takes a tenth longer
        return rows[rows >= 0] if rows[-1] < 0 else rows


@cache
def can_cluster() -> bool:
    """Whether faiss is installed."""
    return find_spec("faiss") is not None


def make_clusters(vectors: Vectors) -> Clusters:
    """Cluster the rows, and see how far a search has to look."""
    faiss = require("faiss", extra="search")
    rows, dim, random = len(vectors), vectors.dim, np.random.default_rng(SEED)
    count = 2 ** round(log2(1.6 * sqrt(rows)))
    units = l2_normalize(vectors.matrix)
    means = faiss.Kmeans(
        dim, count, niter=ROUNDS, spherical=True, seed=SEED, max_points_per_centroid=ROWS_TRAINED
    )
    means.train(units)
    centres = faiss.IndexPQFastScan(dim, dim, BITS, faiss.METRIC_INNER_PRODUCT)
    centres.train(means.centroids)
    centres.add(means.centroids)
    index = faiss.IndexIVFPQFastScan(centres, dim, count, dim, BITS, faiss.METRIC_INNER_PRODUCT)
    index.by_residual, index.implem = True, BY_RESERVOIR
    index.train(units[np.sort(random.permutation(rows)[: count * ROWS_TRAINED])])
    index.add(units)
    asked = np.sort(random.permutation(rows)[:SAMPLE])
    made = _tuned(index, vectors, units[asked], asked, count)
    index.nprobe = made.probes
    return _holding(made, index)


def write_clusters(made: Clusters, path: Path) -> Clusters:
    """The same in a file."""
    with beside(path) as (part,):
        require("faiss", extra="search").write_index(made.index, str(part))
    return _holding(replace(made, path=path), made.index)


def _holding(clusters: Clusters, index: Any) -> Clusters:
    """With faiss's index at hand."""
    clusters.__dict__["index"] = index
    return clusters


def _tuned(index: Any, vectors: Vectors, directions: Matrix, asked: Rows, count: int) -> Clusters:
    """The fewest probes that find enough of the nearest, with more candidates only where needed.

    Candidates are what few codes can tell apart, so that all of them are looked at exactly.
    """
    truth = rank_rows(vectors, directions, NEAREST + 1).rows
    for candidates in CANDIDATES:
        for probes in (each for each in PROBES if each <= count // 4):
            index.nprobe = probes
            _, found = index.search(directions, (NEAREST + 1) * candidates)
            recall = _recall(found, truth, asked)
            if recall >= RECALL:
                return Clusters(count, probes, candidates, recall, len(asked))
    index.nprobe = count
    _, found = index.search(directions, (NEAREST + 1) * candidates)
    return Clusters(count, count, candidates, _recall(found, truth, asked), len(asked))


def _recall(found: Rows, truth: Rows, asked: Rows) -> float:
    """The share of each row's ten nearest that are found; that it finds itself is no merit."""
    others = truth != asked[:, np.newaxis]
    others[others.all(axis=1), -1] = False  # a twin of it took its place
    hit = (truth[:, :, np.newaxis] == found[:, np.newaxis, :]).any(axis=2)
    return float(hit[others].mean())
