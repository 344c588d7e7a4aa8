"""Approximate search by HNSW, of whole, half-precision and binary vectors."""

import numpy as np
import psycopg
import pytest

import malmoi as mm
from malmoi.arrays import Float32Array
from tests.postgres_server import PrivateServer

ROWS, DIM = 1500, 32


def vectors() -> mm.Vectors:
    random = np.random.default_rng(2)
    centres = random.normal(size=(40, DIM))
    matrix = centres[random.integers(40, size=ROWS)] + 0.4 * random.normal(size=(ROWS, DIM))
    return mm.Vectors([f"text {i}" for i in range(ROWS)], matrix.astype(np.float32))


def queries() -> Float32Array:
    random = np.random.default_rng(3)
    chosen = vectors().matrix[random.integers(ROWS, size=30)]
    return (chosen + 0.2 * random.normal(size=chosen.shape)).astype(np.float32)


@pytest.mark.parametrize("kind", ["vector", "halfvec", "binary"])
def test_approximate_search_has_nearly_the_same_hits(url: str, kind: str) -> None:
    fields = [{"group": i % 50, "half": i % 2} for i in range(ROWS)]
    index = mm.build_index(vectors(), fields=fields, approximate=True,
                           path=f"{url}&vector_index={kind}")  # fmt: skip
    assert index.describe()["search"] == f"approximate, HNSW of kind {kind}"
    for where in (None, {"group": 7}, {"half": 1}):
        hits = 0
        for query in queries():
            true = {hit.id for hit in index.search(query, where=where, exact=True)}
            near = index.search(query, where=where)
            assert len(near) == 10
            assert all(hit.score == pytest.approx(float(  # scores are those of whole vectors
                np.dot(vectors()[hit.id], query)
                / np.linalg.norm(vectors()[hit.id]) / np.linalg.norm(query)), abs=1e-5)
                for hit in near[:2])  # fmt: skip
            hits += len(true & {hit.id for hit in near})
        assert hits >= 0.9 * 10 * len(queries())


def test_the_vector_index_is_used(server: PrivateServer, url: str) -> None:
    table = url.rpartition("=")[2]
    index = mm.build_index(vectors(), path=url, approximate=True)
    for query in queries()[:3]:
        index.search(query)
    index.close()  # connections report their statistics at the end
    statement = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = %s"
    with psycopg.connect(server.url) as connection:
        scans = connection.execute(statement, [f"{table}_hnsw_1"]).fetchone()
    assert scans is not None
    assert scans[0] >= 3
