"""The engine that uses onnxruntime; no other module imports it.

A graph is built in memory and refers to the model's own files, which onnxruntime maps: there is
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
from malmoi.encode.runtime.onnx_file import SerializedGraph
from malmoi.encode.runtime.onnx_graph import graph_tensors, make_graph, state_name
from malmoi.encode.runtime.relative_positions import bias_indices
from malmoi.errors import InvalidFileError
from malmoi.extras import require
from malmoi.files.tensors import Tensors

WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"


class OnnxEngine:
    """Runs a model with onnxruntime on the CPU."""

    def __init__(self, file: Path, weights: Weights, config: Config) -> None:
        self._file, self._weights, self._config = file, weights, config
        self._sessions: dict[tuple[tuple[int, ...], int], Any] = {}
        self._lock = Lock()
        import_runtime()  # raises at once if it is missing

    def run(self, batch: PackedBatch, layers: Sequence[int], threads: int) -> list[Float32Array]:
        """The hidden states of these layers, each [tokens, dim], in this order."""
        session = self._session(tuple(sorted(set(layers))), threads)
        inputs = {
            "token_ids": batch.token_ids,
            "positions": batch.positions,
            "pad": batch.pad,
            "unpad": batch.unpad,
            "attention_mask": batch.attention_mask,
        }
        if self._config.relative_buckets:
            longest = int(batch.sizes.max())
            inputs["bias_indices"] = bias_indices(longest, self._config.positions)
        states: list[Float32Array] = session.run([state_name(layer) for layer in layers], inputs)
        return states

    def wake_workers(self) -> None:
        """Do nothing: onnxruntime manages its threads itself."""

    def _session(self, layers: tuple[int, ...], threads: int) -> Any:
        with self._lock:
            if (layers, threads) not in self._sessions:
                graph = make_graph(self._config, layers, self._tensors, self._folder)
                self._sessions[layers, threads] = open_session(graph, threads)
            return self._sessions[layers, threads]

    @cached_property
    def _tensors(self) -> Tensors:
        return graph_tensors(self._weights, self._config)

    @property
    def _folder(self) -> Path:
        return self._file.resolve().parent  # files of the Hub's cache are links


def import_runtime() -> Any:
    """Import onnxruntime with its telemetry switched off."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when it is imported
    return require("onnxruntime", extra="bert")


def open_session(graph: SerializedGraph, threads: int) -> Any:
    """A session that runs a graph on this many threads."""
    runtime = import_runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only
    options.add_session_config_entry(WEIGHTS_FOLDER, str(graph.folder))
    values = [runtime.OrtValue.ortvalue_from_numpy(array) for array in graph.in_memory.values()]
    options.add_external_initializers(list(graph.in_memory), values)
    try:
        return runtime.InferenceSession(graph.model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has no exception type of its own
        raise InvalidFileError(
            f"onnxruntime cannot run the model in {graph.folder}: {error}"
        ) from error
