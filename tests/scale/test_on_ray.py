"""Shards on a real cluster of two nodes: the same files and numbers, also if a node is killed.

The nodes are processes of this machine, started by Ray's cluster utility. All tests share them,
and run on one worker of pytest.
"""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import malmoi as mm
from malmoi.cli import run
from tests.scale.shards import vectors_by_location, write_shards, write_vectors

pytest.importorskip("ray", reason="the extra scale is not installed")
pytestmark = [
    pytest.mark.xdist_group("ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of Ray itself
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

PARQUET = mm.scale.ShardSettings(field="text")
STORE_BYTES = 80 << 20


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from malmoi.scale import ray_cluster  # makes Ray quiet, before it is imported
    from ray.cluster_utils import Cluster

    nodes = {"num_cpus": 2, "object_store_memory": STORE_BYTES}
    cluster = Cluster(initialize_head=True, head_node_args={**nodes, "include_dashboard": False})
    try:
        ray_cluster.ray.init(address=cluster.address, log_to_driver=False)
        ray_cluster._silence()
        yield cluster
    finally:
        ray_cluster.ray.shutdown()
        cluster.shutdown()


def test_a_cluster_writes_the_same_files(tmp_path: Path, cluster: Any) -> None:
    model, texts = write_vectors(tmp_path), write_shards(tmp_path / "texts")
    for on in ("local", "ray"):
        report = mm.scale.embed(f"{texts}/*.parquet", model, tmp_path / on, PARQUET, on=on)
        assert (report.rows, report.skipped) == (120, 0)
    files = {path.name: path.read_bytes() for path in (tmp_path / "local").glob("*.parquet")}
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "ray").glob("*.parquet")}
    again = mm.scale.embed(f"{texts}/*.parquet", model, tmp_path / "ray", PARQUET, on="ray")
    assert again.skipped == 4


def test_a_broken_shard_is_named(
    tmp_path: Path, cluster: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    model, texts = write_vectors(tmp_path), write_shards(tmp_path / "texts", 2)
    (texts / "part-1.parquet").write_bytes(b"PAR1 not really")
    words = ["embed", "--file", f"{texts}/*.parquet", "--field", "text", "--model", model]
    assert run([*words, "--out", str(tmp_path / "out"), "--on", "ray"]) == 1
    shown = capsys.readouterr().err
    assert f"malmoi: {texts}/part-1.parquet is damaged" in shown
    assert len(shown.splitlines()) == 1


def test_a_killed_node_loses_nothing_and_doubles_nothing(tmp_path: Path, cluster: Any) -> None:
    model, texts = write_vectors(tmp_path), write_shards(tmp_path / "texts", 12, 2000)
    node = cluster.add_node(num_cpus=2, object_store_memory=STORE_BYTES)
    out, killed = tmp_path / "ray", threading.Event()

    class KillsTheNode(mm.Reporter):
        """Kills every process of the second node once some shards are written."""

        def stage(self, name: str, unit: str = "") -> mm.reporting.reporter.Progress:
            return self.progress

        def progress(self, done: int, total: int) -> None:
            if 3 * done >= total and not killed.is_set():
                killed.set()
                cluster.remove_node(node, allow_graceful=False)

        def warn(self, sentence: str) -> None:
            assert "died" in sentence

    pattern = f"{texts}/*.parquet"
    report = mm.scale.embed(pattern, model, out, PARQUET, on="ray", reporter=KillsTheNode())
    assert killed.is_set()
    assert report.rows == 24_000
    mm.scale.embed(pattern, model, tmp_path / "local", PARQUET)
    there, here = vectors_by_location(out), vectors_by_location(tmp_path / "local")
    assert there.keys() == here.keys()
    np.testing.assert_array_equal(np.array([*there.values()]), np.array([*here.values()]))
    assert not list(out.glob(".*.part"))
