"""The engine that onnxruntime is: here, and only here, it is met.

What a graph needs is written once into the user's cache, under the SHA-256 of the weights, and
opened memory-mapped from then on.
"""

import hashlib
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from malmoi.encode.config import Config
from malmoi.encode.distances import distances_within
from malmoi.encode.graph import lay_out, state_name, write_graph
from malmoi.encode.packing import Packed
from malmoi.encode.weights import Weights, sha256_of
from malmoi.errors import BadFile
from malmoi.extras import require
from malmoi.files.cache_folder import cache_folder
from malmoi.vectors import Matrix

VERSION = "1"  # of what is kept


class OnnxEngine:
    """A model's folder, run by onnxruntime on the processor."""

    def __init__(self, file: Path, weights: Weights, config: Config) -> None:
        self._file, self._weights, self._config = file, weights, config
        self._sessions: dict[tuple[tuple[int, ...], int], Any] = {}
        self._lock = Lock()
        import_runtime()  # says at once if it is missing

    def run(self, batch: Packed, layers: Sequence[int], threads: int) -> list[Matrix]:
        """The hidden states asked for, each [pieces, dim], in the order asked for."""
        session = self._session(tuple(sorted(set(layers))), threads)
        feed = {
            "ids": batch.ids,
            "places": batch.places,
            "pad": batch.pad,
            "unpad": batch.unpad,
            "mask": batch.mask,
        }
        if self._config.buckets:
            feed["distances"] = distances_within(batch.mask.shape[1], self._config.positions)
        found: list[Matrix] = session.run([state_name(layer) for layer in layers], feed)
        return found

    def rouse(self) -> None:
        """onnxruntime looks after its threads itself."""

    def _session(self, layers: tuple[int, ...], threads: int) -> Any:
        with self._lock:
            if (layers, threads) not in self._sessions:
                self._sessions[layers, threads] = open_session(self._graph(layers), threads)
            return self._sessions[layers, threads]

    def _graph(self, layers: tuple[int, ...]) -> Path:
        path = self._folder / f"states-{'-'.join(map(str, layers))}.onnx"
        if not path.exists():
            write_graph(self._config, layers, self._laid_out, path)
        return path

    @cached_property
    def _laid_out(self) -> Path:
        path = self._folder / "weights"
        if not path.exists():
            lay_out(self._weights, self._config, path)
        return path

    @cached_property
    def _folder(self) -> Path:
        name = f"{VERSION} {self._config!r} {sha256_of(self._file)}".encode()
        folder = cache_folder("encoders") / hashlib.blake2b(name, digest_size=16).hexdigest()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadFile(
                f"{folder} cannot be made ({error.strerror or error}): name another folder in"
                " MALMOI_CACHE"
            ) from error
        return folder


def import_runtime() -> Any:
    """The library, which would else report each use of it to its makers."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when it is imported
    return require("onnxruntime", extra="bert")


def open_session(graph: Path, threads: int) -> Any:
    """A graph ready to run, each run on so many threads."""
    runtime = import_runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors alone
    try:
        return runtime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library has no kind of its own
        raise BadFile(
            f"{graph} cannot be run ({error}): delete its folder, and it is made again"
        ) from error
