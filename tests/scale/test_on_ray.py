"""Shards on a real cluster of two nodes: the same files and numbers, also if a node is killed.

The nodes are processes of this machine, started by Ray's cluster utility. All tests share them,
and run on one worker of pytest.
"""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import malmoi as mm
from malmoi.cli import run
from malmoi.reporting.reporter import Progress
from tests.pages import blocks
from tests.scale.shards import vectors_by_location, write_corpus, write_shards, write_vectors
from tests.test_house import modules_after

ray = pytest.importorskip("ray", reason="the extra scale is not installed")
pytestmark = [
    pytest.mark.xdist_group("ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of Ray itself
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

PARQUET = mm.scale.ShardSettings(field="text")
STORE_BYTES = 80 << 20


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    from malmoi.scale.cluster import ray_cluster  # makes Ray quiet, before it is imported

    nodes = {"num_cpus": 2, "object_store_memory": STORE_BYTES}
    cluster = Cluster(initialize_head=True, head_node_args={**nodes, "include_dashboard": False})
    try:
        ray.init(address=cluster.address, log_to_driver=False)
        ray_cluster._silence()
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def test_a_cluster_names_a_broken_shard_continues_and_writes_the_same_files(
    tmp_path: Path, cluster: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    model, texts = write_vectors(tmp_path), write_shards(tmp_path / "texts")
    mm.scale.embed(f"{texts}/*.parquet", model, tmp_path / "local", PARQUET)
    broken = texts / "part-3.parquet"
    stat, whole = broken.stat(), broken.read_bytes()
    broken.write_bytes(b"PAR1 not really")
    words = ["embed", "--file", f"{texts}/*.parquet", "--field", "text", "--model", model]
    words += ["--out", str(tmp_path / "ray"), "--on", "ray"]
    assert run(words) == 1
    shown = capsys.readouterr().err
    assert shown.startswith(f"malmoi: {broken} is damaged")
    assert len(shown.splitlines()) == 1
    broken.write_bytes(whole)
    os.utime(broken, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert run(words) == 0
    assert capsys.readouterr().out.startswith(f"{tmp_path / 'ray'}: 120 × 6 in 4 shards, ")
    files = {path.name: path.read_bytes() for path in (tmp_path / "local").glob("*.parquet")}
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "ray").glob("*.parquet")}


def test_counts_of_a_cluster_are_those_of_one_process(
    tmp_path: Path, cluster: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    text = str(write_corpus(tmp_path))
    for on in ("local", "ray"):
        words = ["vocab", text, "--min-count", "2", "--out", str(tmp_path / f"{on}.txt")]
        assert run([*words, "--on", on]) == 0
        words = ["cooccur", text, "--window", "4", "--out", str(tmp_path / f"{on}.counts")]
        assert run([*words, "--on", on]) == 0
        words = ["train", "ngram", text, "--out", str(tmp_path / f"{on}.arpa")]
        assert run([*words, "--on", on]) == 0
    for suffix in ("txt", "counts", "arpa"):
        here, there = (tmp_path / f"{on}.{suffix}" for on in ("local", "ray"))
        assert here.read_bytes() == there.read_bytes()


def test_workers_count_their_cores_after_they_are_limited() -> None:
    assert "malmoi.kernels.threads" not in modules_after("import malmoi.scale.cluster.ray_cluster")
    code = "from malmoi.scale.worker import limit_threads\nlimit_threads(1)\n"
    code += "from malmoi.kernels.threads import THREADS\nassert THREADS == 1"
    assert "malmoi.kernels.threads" in modules_after(code)


def test_an_address_without_a_cluster_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from malmoi.scale.cluster import ray_cluster

    for address in ("localhost:1", "head", "head:port"):
        with pytest.raises(mm.InvalidArgumentError, match=f"{address}"):
            ray_cluster._check_reachable(address)
    monkeypatch.setattr(ray_cluster, "NODE_SECONDS", 0.1)
    monkeypatch.setattr(ray_cluster, "POLL_SECONDS", 0.1)
    lonely = ray_cluster.RayCluster(mm.Reporter())
    monkeypatch.setattr(lonely, "cpus", lambda: {"head": 0.0})
    with pytest.raises(mm.InvalidArgumentError, match="no node with CPUs has joined"):
        lonely._wait_for_plan(1)


def test_the_class_for_ray_data_runs_as_on_the_page(cluster: Any) -> None:
    names: dict[str, Any] = {}
    exec(blocks("scale", "py")[0], names)
    expected = mm.load_encoder("glove-6b-50d").encode(["the bank", "a river"])
    made = np.array([row["vector"] for row in names["rows"]])
    np.testing.assert_array_equal(made, expected)


def test_a_killed_node_loses_nothing_and_doubles_nothing(tmp_path: Path, cluster: Any) -> None:
    model, texts = write_vectors(tmp_path), write_shards(tmp_path / "texts", 12, 2000)
    node = cluster.add_node(num_cpus=2, object_store_memory=STORE_BYTES)
    out, killed = tmp_path / "ray", threading.Event()

    class KillsTheNode(mm.Reporter):
        """Kills every process of the second node once some shards are written."""

        def stage(self, name: str, unit: str = "") -> Progress:
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
