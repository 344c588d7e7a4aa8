"""Requests a second and how long they take, beside sentence-transformers behind FastAPI.

Each request is one short sentence. The peer's endpoint is measured as `def` and as `async def`,
and the better of the two is what we are compared with.
"""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.data import Data
from bench.encoding import MODEL, short_texts
from bench.measure import ROOT, Figure, say, seconds
from bench.text import CORPORA
from malmoi.encode.checkpoint.locate import find_model

CLIENTS, ROUNDS, DURATION, WARM = (1, 8, 64), 2, 4.0, 1.5
FASTER = 3.0


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part; none where the texts are not there."""
    if not CORPORA.is_dir():
        say(f"no texts in {CORPORA.parent} (set MALMOI_DATA): serving is left out")
        return
    bodies = data.folder / "bodies.jsonl"
    lines = [json.dumps({"texts": [text]}) for text in short_texts()]
    bodies.write_text("\n".join(lines), encoding="utf-8")
    folder = str(find_model(MODEL))
    with ours() as server, peer(folder, "plain") as plain, peer(folder, "async") as at_once:
        servers = {"ours": server.address, "plain": plain, "async": at_once}
        for address in servers.values():
            load(address, bodies, 4, WARM)
        for clients in CLIENTS:
            say(f"{clients} clients, {ROUNDS} rounds")
            found = {name: [] for name in servers}  # type: dict[str, list[dict[str, Any]]]
            for _ in range(ROUNDS):
                for name, address in servers.items():
                    found[name].append(load(address, bodies, clients, DURATION))
            yield from figures(clients, found)


def figures(clients: int, found: dict[str, list[dict[str, Any]]]) -> Iterator[Figure]:
    """Throughput and times with so many clients: the best round of each server."""
    best = {name: max(rounds, key=lambda r: r["a_second"]) for name, rounds in found.items()}
    mine, name = best["ours"], max(("plain", "async"), key=lambda name: best[name]["a_second"])
    theirs = best[name]
    ratio = mine["a_second"] / theirs["a_second"]
    failed = sum(each["failed"] for each in found["ours"])
    yield Figure(
        name=f"requests/s, {clients} clients",
        ours=f"{mine['a_second']:,.0f}",
        peer=f"{theirs['a_second']:,.0f}",
        ratio=ratio,
        asked=f"≥ {FASTER:g}×",
        met=ratio >= FASTER and failed == 0,
        remark=f"{clients} clients: {failed} of ours failed; the peer is better as {name}.",
    )
    for what in ("median", "p99"):
        tail = theirs[what] / mine[what]
        yield Figure(
            name=f"{what}, {clients} clients",
            ours=seconds(mine[what]),
            peer=seconds(theirs[what]),
            ratio=tail,
            asked="> 1×" if what == "p99" else "",
            met=tail > 1 if what == "p99" else None,
        )


def load(address: str, bodies: Path, clients: int, duration: float) -> dict[str, Any]:
    """Ask a server for a while, from a process of its own."""
    words = [address, "/embed", str(bodies), str(clients), str(duration)]
    command = [sys.executable, "-m", "bench.load", *words]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=ROOT, timeout=60)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@dataclass(frozen=True)
class Server:
    """A server of ours: where it is, and its process."""

    address: str
    process: "subprocess.Popen[str]"


@contextmanager
def ours(*words: str) -> Iterator[Server]:
    """Our server as a process."""
    command = [sys.executable, "-m", "malmoi", "serve", "--model", f"{MODEL}={MODEL}"]
    command += ["--port", "0", "--quiet", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield Server(line.rsplit(" ", 1)[1].strip(), process)
        finally:
            process.terminate()


@contextmanager
def peer(folder: str, kind: str) -> Iterator[str]:
    """The peer's server as a process; where it is."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "bench.peer_server", folder, str(port), kind]
    with subprocess.Popen(command, cwd=ROOT) as process:
        try:
            for _ in range(600):
                with socket.socket() as trying:
                    if trying.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.2)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
