"""The engine that onnxruntime is: here, and only here, it is met.

A graph is made in memory and points into the model's own files, which onnxruntime maps: there is
no cache that could be damaged, out of date or impossible to write.
"""

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.config import Config
from malmoi.encode.checkpoint.weights import Weights
from malmoi.encode.runtime.batches import PackedBatch
from malmoi.encode.runtime.onnx_file import SerializedTensor
from malmoi.encode.runtime.onnx_graph import lay_out, make_graph, state_name
from malmoi.encode.runtime.relative_positions import distances_within
from malmoi.errors import InvalidFileError
from malmoi.extras import require
from malmoi.files.tensors import Tensors

FOLDER = "session.model_external_initializers_file_folder_path"


class OnnxEngine:
    """A model's folder, run by onnxruntime on the processor."""

    def __init__(self, file: Path, weights: Weights, config: Config) -> None:
        self._file, self._weights, self._config = file, weights, config
        self._sessions: dict[tuple[tuple[int, ...], int], Any] = {}
        self._lock = Lock()
        import_runtime()  # says at once if it is missing

    def run(self, batch: PackedBatch, layers: Sequence[int], threads: int) -> list[Float32Array]:
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
        found: list[Float32Array] = session.run([state_name(layer) for layer in layers], feed)
        return found

    def rouse(self) -> None:
        """onnxruntime looks after its threads itself."""

    def _session(self, layers: tuple[int, ...], threads: int) -> Any:
        with self._lock:
            if (layers, threads) not in self._sessions:
                made = make_graph(self._config, layers, self._laid_out, self._folder)
                self._sessions[layers, threads] = open_session(made, threads)
            return self._sessions[layers, threads]

    @cached_property
    def _laid_out(self) -> Tensors:
        return lay_out(self._weights, self._config)

    @property
    def _folder(self) -> Path:
        return self._file.resolve().parent  # the hub's files are links to elsewhere


def import_runtime() -> Any:
    """The library, which would else report each use of it to its makers."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when it is imported
    return require("onnxruntime", extra="bert")


def open_session(made: SerializedTensor, threads: int) -> Any:
    """A graph ready to run, each run on so many threads."""
    runtime = import_runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors alone
    options.add_session_config_entry(FOLDER, str(made.folder))
    values = [runtime.OrtValue.ortvalue_from_numpy(array) for array in made.handed_over.values()]
    options.add_external_initializers(list(made.handed_over), values)
    try:
        return runtime.InferenceSession(made.graph, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library has no kind of its own
        raise InvalidFileError(
            f"the model in {made.folder} cannot be run by onnxruntime: {error}"
        ) from error
