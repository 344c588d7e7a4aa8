"""Engines run packed texts through a model; `AutoEngine` chooses one.

onnxruntime is ready at once. The Numba kernels are faster but take about a second to load (and
some seconds to compile on a new machine), so they are used once there is enough work.
"""

import os
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.checkpoint.config import Config
from malmoi.encode.checkpoint.weights import read_weights, weights_file
from malmoi.encode.protocol import Arithmetic, Precision
from malmoi.encode.runtime.batches import PackedBatch, batches, pack_texts
from malmoi.encode.runtime.engine_switch import EngineSwitch
from malmoi.encode.runtime.onnx_session import OnnxEngine
from malmoi.errors import warn

COMPILE_AFTER_TOKENS = 20_000  # about two seconds of work

NOT_QUANTIZED = (
    "this processor has neither AVX2 nor AVX-512 with byte and word instructions:"
    " the model runs in float32, not quantized"
)


class Engine(Protocol):
    """Runs a model."""

    def run(self, batch: PackedBatch, layers: Sequence[int], threads: int) -> list[Float32Array]:
        """The hidden states of these layers, each [tokens, dim], in this order."""

    def wake_workers(self) -> None:
        """Wake sleeping threads, because a batch will come soon."""


class AutoEngine(EngineSwitch):
    """Runs a model with onnxruntime first and with compiled kernels once there is more work.

    Quantized models always use the compiled kernels. `arithmetic` is the type of the numbers that
    are multiplied.
    """

    def __init__(self, folder: Path, config: Config, precision: Precision = "float32") -> None:
        super().__init__()
        self._file, self._config = weights_file(folder), config
        self._weights = read_weights(self._file, config)  # memory-mapped; finds faults at once
        self.arithmetic = arithmetic_of(precision)
        if self.arithmetic == "float32":
            self._engine: Engine = OnnxEngine(self._file, self._weights, config)
        else:
            self._engine = self._compiled()
        if precision == "quantized" and self.arithmetic == "float32":
            warn(NOT_QUANTIZED)

    @property
    def dim(self) -> int:
        """The dimension of a token's vector."""
        return self._config.dim

    def batches(self, sizes: Int64Array) -> Iterator[Int64Array]:
        """The texts of each batch, from the numbers of their tokens."""
        return batches(sizes)

    def run_texts(
        self, encodings: Sequence[Any], layers: Sequence[int], threads: int
    ) -> list[Float32Array]:
        """The hidden states of encoded texts, each [tokens of all texts, dim]."""
        return self.run(pack_texts(encodings, self._config), layers, threads)

    def run(self, batch: PackedBatch, layers: Sequence[int], threads: int) -> list[Float32Array]:
        """The hidden states of these layers, each [tokens, dim], in this order."""
        return self._engine.run(batch, layers, threads)

    def wake_workers(self) -> None:
        """Wake sleeping threads, because a batch will come soon."""
        self._engine.wake_workers()

    @property
    def _compile_after_tokens(self) -> int:
        return COMPILE_AFTER_TOKENS

    def _use_kernels(self) -> None:
        if self.arithmetic == "float32" and can_compile():
            self._engine = self._compiled()

    def _compiled(self) -> Engine:
        from malmoi.encode.runtime.compiled_engine import CompiledEngine  # imports Numba

        return CompiledEngine(self._weights, self._config, self.arithmetic)


def can_compile() -> bool:
    """Whether the kernels support this machine."""
    if platform.machine() not in ("x86_64", "AMD64") or not hasattr(os, "sched_yield"):
        return False
    from malmoi.kernels.transformer.gemm import IS_SUPPORTED

    return IS_SUPPORTED


def arithmetic_of(precision: Precision) -> Arithmetic:
    """The arithmetic for a precision on this machine: quantized means the fastest integers."""
    if precision == "float32" or not can_compile():
        return "float32"
    from malmoi.kernels.transformer import gemm_int8 as int8_kernels
    from malmoi.kernels.transformer import gemm_int16 as int16_kernels

    if int8_kernels.IS_SUPPORTED:
        return "int8"
    return "int16" if int16_kernels.IS_SUPPORTED else "float32"
