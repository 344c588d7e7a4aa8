"""Shards on two nodes of a Ray cluster: one is killed half-way, and what the driver holds.

The nodes are two `ray start` in two network namespaces of this machine, with token authentication;
where namespaces are not permitted, processes of Ray's cluster utility. The encoder is the average
of GloVe vectors, so that what is measured is everything but the model. $MALMOI_SCALING_TEXTS
changes the number of texts.
"""

import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.data import Data
from bench.measure import ROOT, Figure, say
from malmoi.scale.vector_shards import open_vectors

TEXTS = int(os.environ.get("MALMOI_SCALING_TEXTS", 200_000))
LARGER = 10  # times as many texts, for the memory of the driver
SHARD_TEXTS, WORDS = 5000, 8
TOLERANCE, MEMORY_TOLERANCE = 1e-6, 0.15
CPUS, STORE_BYTES = 2, 200_000_000  # of each node
HEAD, PORT = "10.77.0.1", 6379
NAMESPACES = {"malmoi-a": HEAD, "malmoi-b": "10.77.0.2"}
MODEL = "glove-6b-50d"
DRIVER = """
import json, sys, time
from pathlib import Path
import malmoi as mm
class Progress(mm.SilentReporter):
    def stage(self, name, unit=""):
        return lambda done, total: print(f"{done} {total}", flush=True)
files, out, on = sys.argv[1:]
settings = mm.scale.ShardSettings(field="text")
if on == "utility":
    from malmoi.scale.cluster.ray_cluster import ray
    from ray.cluster_utils import Cluster
    node = {"num_cpus": 2, "object_store_memory": 200_000_000}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    other = cluster.add_node(**node)
    print("node", *[each.process.pid for all in other.all_processes.values() for each in all])
    on = f"ray://{cluster.address}"
start = time.perf_counter()
report = mm.scale.embed(files, "glove-6b-50d", out, settings, on=on, reporter=Progress())
took = time.perf_counter() - start
status = Path("/proc/self/status").read_text()  # getrusage counts the process that forked this one
peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024
print(json.dumps({"rows": report.rows, "seconds": took, "peak": peak}))
"""


@dataclass(frozen=True)
class Nodes:
    """Where the driver runs and what it connects to; `processes` of the second node."""

    command: tuple[str, ...]
    on: str
    environment: dict[str, str]

    def kill_second(self, told: list[int]) -> int:
        """Kill every process of the second node; returns how many."""
        pids = told or pids_of(list(NAMESPACES)[1])
        for pid in pids:
            subprocess.run(["kill", "-9", str(pid)], check=False, capture_output=True)
        return len(pids)


def run(data: Data) -> Iterator[Figure]:
    """The killed node first, then memory and speed."""
    folder = data.folder / "scaling"
    folder.mkdir()
    few = write_texts(data, folder / "few", TEXTS)
    here = drive(few, folder / "local", "local")
    with two_nodes() as nodes:
        killed = drive(few, folder / "killed", nodes.on, nodes, kill=True)
    yield equality(folder, killed)
    with two_nodes() as nodes:
        there = drive(few, folder / "ray", nodes.on, nodes)
        many = write_texts(data, folder / "many", LARGER * TEXTS)
        larger = drive(many, folder / "ray-many", nodes.on, nodes)
    change = larger["peak"] / there["peak"] - 1
    yield Figure(
        name=f"driver at {LARGER * TEXTS:,} texts",
        ours=f"{larger['peak'] / 1e6:.0f} MB",
        asked=f"{there['peak'] / 1e6:.0f} MB ± {MEMORY_TOLERANCE:.0%}",
        met=abs(change) <= MEMORY_TOLERANCE,
        remark=f"Peak memory of the driver at {TEXTS:,} texts: {there['peak'] / 1e6:.0f} MB, at"
        f" {LARGER * TEXTS:,}: {larger['peak'] / 1e6:.0f} MB ({change:+.1%})."
        f" One process at {TEXTS:,}: {here['peak'] / 1e6:.0f} MB.",
    )
    for name, one in (("Ray, two nodes", larger), ("one process", here)):
        yield Figure(
            name=f"texts/s, {name}",
            ours=f"{one['rows'] / one['seconds']:,.0f}",
            remark=f"{one['rows']:,} texts in {one['seconds']:.1f} s by {name}, with loading the"
            " vectors; both nodes share the cores of this machine.",
        )


def equality(folder: Path, killed: dict[str, Any]) -> Figure:
    """The rows after the kill beside those of one process."""
    here, there = (vectors_by_location(folder / name) for name in ("local", "killed"))
    is_once = here.keys() == there.keys() and killed["rows"] == len(there) == TEXTS
    off = max(float(np.abs(here[key] - there[key]).max()) for key in here) if is_once else np.inf
    return Figure(
        name="node killed half-way: rows",
        ours=f"{len(there):,}",
        asked=f"{TEXTS:,}, each once",
        off=off,
        met=is_once and off <= TOLERANCE,
        remark=f"{killed['killed']} processes of one of two nodes ({killed['where']}) killed at"
        f" {killed['share']:.0%} of the input; largest difference to one process {off:g}.",
    )


def drive(
    files: str, out: Path, on: str, nodes: Nodes | None = None, *, kill: bool = False
) -> dict[str, Any]:
    """Run the driver in a process of its own; its last line is the result."""
    say(f"{out.name}: {files} on {on}")
    command = [*(nodes.command if nodes else ()), sys.executable, "-c", DRIVER, files, str(out), on]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    environment |= nodes.environment if nodes else {}
    result: dict[str, Any] = {}
    told: list[int] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("node "):
                told = [int(pid) for pid in line.split()[1:]]
            elif line.startswith("{"):
                result |= json.loads(line)
            elif kill and nodes and "killed" not in result:
                done, total = map(int, line.split())
                if 2 * done >= total:
                    where = "network namespaces" if nodes.command else "cluster utility"
                    result |= {"killed": nodes.kill_second(told), "share": done / total}
                    result["where"] = where
    if "rows" not in result:
        raise SystemExit(f"the driver failed: {files} on {on}")
    return result


@contextmanager
def two_nodes() -> Iterator[Nodes]:
    """A cluster of two nodes; all their processes are killed at the end."""
    ray = str(Path(sys.executable).with_name("ray"))
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    with ExitStack() as stack:
        if not made_namespaces(stack):
            say("network namespaces are not permitted: nodes of Ray's cluster utility")
            yield Nodes((), "utility", {})
            return
        quiet = {"RAY_worker_niceness": "0", "RAY_USAGE_STATS_ENABLED": "0"}
        environment = token | quiet
        common = [f"--num-cpus={CPUS}", f"--object-store-memory={STORE_BYTES}"]
        for name, address in NAMESPACES.items():
            head = ["--head", f"--port={PORT}", "--include-dashboard=false"]
            place = head if address == HEAD else [f"--address={HEAD}:{PORT}"]
            start = [ray, "start", f"--node-ip-address={address}", *place, *common]
            inside(name, start, os.environ | environment | {"PYTHONPATH": str(ROOT / "src")})
        first = next(iter(NAMESPACES))
        yield Nodes(("ip", "netns", "exec", first), f"ray://{HEAD}:{PORT}", environment)


def made_namespaces(stack: ExitStack) -> bool:
    """Make two network namespaces with a cable between them, removed with the stack."""
    if shutil.which("ip") is None:
        return False
    (one, other), ends = NAMESPACES, ("mmoi-a", "mmoi-b")
    commands = [f"netns add {one}", f"netns add {other}"]
    commands.append(f"link add {ends[0]} netns {one} type veth peer name {ends[1]} netns {other}")
    for (name, address), end in zip(NAMESPACES.items(), ends, strict=True):
        commands.append(f"-n {name} addr add {address}/24 dev {end}")
        commands += [f"-n {name} link set {end} up", f"-n {name} link set lo up"]
    stack.callback(remove_namespaces)
    return all(
        subprocess.run(["ip", *command.split()], check=False, capture_output=True).returncode == 0
        for command in commands
    )


def remove_namespaces() -> None:
    """Kill what runs in the namespaces, and remove them."""
    for name in NAMESPACES:
        for pid in pids_of(name):
            subprocess.run(["kill", "-9", str(pid)], check=False, capture_output=True)
        subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def pids_of(namespace: str) -> list[int]:
    found = subprocess.run(
        ["ip", "netns", "pids", namespace], check=False, capture_output=True, text=True
    )
    return [int(pid) for pid in found.stdout.split()]


def inside(namespace: str, command: list[str], environment: dict[str, str]) -> None:
    """Run a command in a namespace."""
    subprocess.run(
        ["ip", "netns", "exec", namespace, *command],
        check=True,
        capture_output=True,
        env=environment,
    )


def write_texts(data: Data, folder: Path, count: int) -> str:
    """Parquet shards of random texts of frequent words; returns their pattern."""
    folder.mkdir()
    words = np.array(data.glove.keys[:20_000], object)
    for shard, start in enumerate(range(0, count, SHARD_TEXTS)):
        rows = data.random.integers(0, len(words), (min(SHARD_TEXTS, count - start), WORDS))
        texts = [" ".join(words[row]) for row in rows]
        pq.write_table(pa.table({"text": texts}), folder / f"part-{shard:05}.parquet")
    return f"{folder}/*.parquet"


def vectors_by_location(folder: Path) -> dict[str, Any]:
    """The vectors of a folder; a location that occurs twice gets a key of its own."""
    found: dict[str, Any] = {}
    for locations, vectors in open_vectors(folder).batches():
        for location, vector in zip(locations, vectors, strict=True):
            found[f"{location} again" if location in found else location] = vector
    return found
