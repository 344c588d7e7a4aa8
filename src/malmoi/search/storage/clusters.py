"""Approximate search: a search scans a few clusters of rows (faiss's IVF, extra `search`).

Rows are kept as short codes of how they differ from the centre of their cluster, and the centres
as short codes too; the caller scores the best rows exactly. A query near the centre of a
cluster has its nearest rows in few clusters, a query far from all centres in many, so that a
search probes more clusters for the latter. How many is chosen when the clusters are made, by the
recall of the ten nearest rows on two samples of queries that are not rows: rows with noise, and
random directions. Rows of zeros have no direction and are in no cluster. Knows nothing
of texts, nor of which rows live.
"""

from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from importlib.util import find_spec
from math import log2, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.errors import InvalidFileError
from malmoi.extras import require
from malmoi.files.checksums import file_checksum
from malmoi.files.output import atomic_write
from malmoi.nearest.top_k import rank_rows, safe_norms
from malmoi.vectors import Vectors, l2_normalize

APPROXIMATE_FROM = 100_000  # rows: fewer are searched exactly
MIN_CLUSTERED_ROWS = 1000  # rows needed to train the codes
MIN_RECALL, RECALL_AT = 0.953, 10  # a little more than the documented 0.95
SAMPLE_QUERIES, SEED = 1000, 1  # queries of each kind
FAR_QUANTILE = 0.95  # of the centre scores of random directions
NOISE_NORM = 0.5  # the norm of the noise added to a unit row
ROUNDING = 1e-6  # of cosines
MAX_SCORED_NUMBERS = 1 << 22  # numbers of candidates scored in one batch
TRAIN_ROWS_PER_CLUSTER, KMEANS_ITERATIONS = 128, 12  # of k-means
CODE_BITS = 4  # bits per dimension
CANDIDATES = (4, 8, 16, 32)
BY_RESERVOIR = 11  # faiss's fastest scan for one query
PROBES = (
    *(2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 50, 52, 54, 56, 58, 60, 64, 72),
    *(80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 512),
)


@dataclass(frozen=True, eq=False)
class Clusters:
    """faiss's index over the rows of the first segment, and its measured recall."""

    clusters: int
    probes: int  # clusters that a search scans
    candidates: int  # rows scored exactly per result
    recall: float  # of the ten nearest: the lower of the two below
    sample: int  # queries of each kind
    recall_perturbed: float | None = None  # for rows with noise; None in older indexes
    recall_random: float | None = None  # for random directions
    far_probes: int | None = None  # clusters that a search scans if no centre is near
    near: float | None = None  # the minimum inner product with a near centre
    path: Path | None = None
    checksum: int | None = None  # of the file; None in older indexes

    @property
    def facts(self) -> dict[str, int | float]:
        """The values that are known, by name."""
        known = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: fact for name, fact in known.items() if fact is not None and name != "path"}

    @cached_property
    def index(self) -> Any:
        """The faiss index, read on first use."""
        faiss = require("faiss", extra="search")
        try:  # faiss itself would crash on some damaged files
            if (
                self.checksum is not None
                and self.path
                and file_checksum(self.path) != self.checksum
            ):
                raise RuntimeError("its checksum is wrong")
            index = faiss.read_index(str(self.path))
        except (RuntimeError, OSError) as error:
            raise InvalidFileError(f"{self.path} is damaged: build the index anew") from error
        index.nprobe, index.implem = self.probes, BY_RESERVOIR
        return index

    @cached_property
    def _pointer(self) -> Any:
        return require("faiss", extra="search").swig_ptr

    @cached_property
    def _far(self) -> Any:
        return require("faiss", extra="search").SearchParametersIVF(nprobe=self.far_probes)

    def without_file(self) -> "Clusters":
        """A copy in memory."""
        return _with_index(replace(self, path=None, checksum=None), self.index)

    def nearest(self, direction: Float32Array, k: int) -> Int64Array:
        """Candidate rows, which probably contain the k nearest."""
        count, query = k * self.candidates, np.ascontiguousarray(direction, np.float32)
        scores, rows = np.empty(count, np.float32), np.empty(count, np.int64)
        query_at, scores_at, rows_at = map(self._pointer, (query, scores, rows))
        parameters = None
        if self.near is not None:
            self.index.quantizer.search_c(1, query_at, 1, scores_at, rows_at)
            parameters = self._far if scores[0] < self.near else None
        # `search` itself takes a tenth longer
        self.index.search_c(1, query_at, count, scores_at, rows_at, parameters)
        return rows[rows >= 0] if rows[-1] < 0 else rows


@cache
def can_cluster() -> bool:
    """Whether faiss is installed."""
    return find_spec("faiss") is not None


def make_clusters(vectors: Vectors) -> Clusters | None:
    """Cluster the rows and choose the number of probes; None for too few rows."""
    units, used = l2_normalize(vectors.matrix), np.flatnonzero(vectors.norms)
    if len(used) < MIN_CLUSTERED_ROWS:
        return None
    if len(used) < len(units):
        units = units[used]
    index = _train(units)
    index.add_with_ids(units, used)
    clusters = _tune(index, vectors, _samples(index, vectors, units))
    index.nprobe = clusters.probes
    return _with_index(clusters, index)


def _train(units: Float32Array) -> Any:
    """An empty faiss index, trained on these rows."""
    faiss = require("faiss", extra="search")
    rows, dim = units.shape
    count = 2 ** round(log2(1.6 * sqrt(rows)))
    means = faiss.Kmeans(
        dim,
        count,
        niter=KMEANS_ITERATIONS,
        spherical=True,
        seed=SEED,
        min_points_per_centroid=1,  # do not print a warning for few rows
        max_points_per_centroid=TRAIN_ROWS_PER_CLUSTER,
    )
    means.train(units)
    centres = faiss.IndexPQFastScan(dim, dim, CODE_BITS, faiss.METRIC_INNER_PRODUCT)
    centres.pq.cp.min_points_per_centroid = 1  # do not print a warning for few centres
    centres.train(means.centroids)
    centres.add(means.centroids)
    index = faiss.IndexIVFPQFastScan(
        centres, dim, count, dim, CODE_BITS, faiss.METRIC_INNER_PRODUCT
    )
    index.by_residual, index.implem = True, BY_RESERVOIR
    chosen = np.random.default_rng(SEED).permutation(rows)[: count * TRAIN_ROWS_PER_CLUSTER]
    index.train(units[np.sort(chosen)])
    return index


def write_clusters(clusters: Clusters, path: Path) -> Clusters:
    """Write clusters to a file; return them with its path and checksum."""
    with atomic_write(path) as (part,):
        require("faiss", extra="search").write_index(clusters.index, str(part))
        checksum = file_checksum(part)
    return _with_index(replace(clusters, path=path, checksum=checksum), clusters.index)


def _with_index(clusters: Clusters, index: Any) -> Clusters:
    """Set the cached faiss index."""
    clusters.__dict__["index"] = index
    return clusters


@dataclass(frozen=True, eq=False)
class _Sample:
    """Unit queries, the score of their tenth nearest row, and of their best centre."""

    directions: Float32Array  # [queries, dim]
    least: Float32Array  # [queries]
    centres: Float32Array  # [queries]

    def __getitem__(self, which: Any) -> "_Sample":
        return _Sample(self.directions[which], self.least[which], self.centres[which])

    def __len__(self) -> int:
        return len(self.least)


def _samples(index: Any, vectors: Vectors, units: Float32Array) -> list[_Sample]:
    """Rows with noise, and random directions: a query is seldom a row itself."""
    random = np.random.default_rng(SEED)
    chosen = np.sort(random.permutation(len(units))[:SAMPLE_QUERIES])
    noise = l2_normalize(random.normal(size=(len(chosen), units.shape[1])).astype(np.float32))
    anywhere = random.normal(size=noise.shape).astype(np.float32)
    samples = []
    for each in (units[chosen] + NOISE_NORM * noise, anywhere):
        directions = l2_normalize(each)
        least = rank_rows(vectors, directions, RECALL_AT).scores[:, -1]
        samples.append(_Sample(directions, least, index.quantizer.search(directions, 1)[0][:, 0]))
    return samples


def _tune(index: Any, vectors: Vectors, samples: list[_Sample]) -> Clusters:
    """The fewest probes that reach the recall, with more candidates only where needed.

    The codes cannot rank the candidates, so that all of them are scored exactly. Nearly all random
    directions are far from every centre.
    """
    near = float(np.quantile(samples[1].centres, FAR_QUANTILE))
    close = samples[0][samples[0].centres >= near]
    for candidates in CANDIDATES:
        far_probes = _probes(index, vectors, samples[1], candidates)
        probes = _probes(index, vectors, close, candidates) if len(close) else far_probes
        if max(far_probes, probes) < index.nlist:
            break
    recalls = []
    for sample in samples:
        is_close = sample.centres >= near
        hits = _count_hits(index, vectors, sample[is_close], candidates, probes)
        hits += _count_hits(index, vectors, sample[~is_close], candidates, far_probes)
        recalls.append(hits / (RECALL_AT * len(sample)))
    return Clusters(
        clusters=index.nlist,
        probes=probes,
        candidates=candidates,
        recall=min(recalls),
        sample=len(samples[0]),
        recall_perturbed=recalls[0],
        recall_random=recalls[1],
        far_probes=far_probes,
        near=near,
    )


def _probes(index: Any, vectors: Vectors, sample: _Sample, candidates: int) -> int:
    """The fewest probes that reach the recall on a sample; all clusters if none does."""
    for probes in (each for each in PROBES if each <= index.nlist // 4):
        hits = _count_hits(index, vectors, sample, candidates, probes)
        if hits >= MIN_RECALL * RECALL_AT * len(sample):
            return probes
    return int(index.nlist)


def _count_hits(index: Any, vectors: Vectors, sample: _Sample, candidates: int, probes: int) -> int:
    """How many of the ten nearest rows a search returns, or equally near ones, over all queries."""
    index.nprobe, hits = probes, 0
    step = max(1, MAX_SCORED_NUMBERS // (RECALL_AT * candidates * vectors.dim))
    for start in range(0, len(sample), step):
        part = sample[start : start + step]
        _, rows = index.search(part.directions, RECALL_AT * candidates)
        near = np.einsum("qcd,qd->qc", vectors.matrix[rows], part.directions)
        near /= safe_norms(vectors.norms[rows])
        near[rows < 0] = -np.inf
        good = near >= part.least[:, np.newaxis] - ROUNDING
        hits += int(np.minimum(good.sum(axis=1), RECALL_AT).sum())
    return hits
