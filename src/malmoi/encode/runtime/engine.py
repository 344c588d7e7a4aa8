"""Engines: packed texts to hidden states, and which of them does the work.

onnxruntime is there at once. Kernels of our own are faster, but loading them takes about a
second (and some seconds more on a machine's first day): they come when there is much to do.
"""

import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Protocol

from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.config import Config
from malmoi.encode.checkpoint.weights import read_weights, weights_file
from malmoi.encode.protocol import Arithmetic, Precision
from malmoi.encode.runtime.batches import PackedBatch
from malmoi.encode.runtime.onnx_session import OnnxEngine
from malmoi.errors import warn

MUCH = 20_000  # pieces: two seconds' work
CALL = 200  # what a call counts for at least, for who asks again and again waits each time

NOT_QUANTIZED = (
    "this processor has neither AVX2 nor AVX-512 with byte and word instructions:"
    " the model runs in float32, not quantized"
)


class Engine(Protocol):
    """Runs a model."""

    def run(self, batch: PackedBatch, layers: Sequence[int], threads: int) -> list[Float32Array]:
        """The hidden states asked for, each [pieces, dim], in the order asked for."""

    def rouse(self) -> None:
        """There will soon be a batch: threads that sleep may be woken."""


class AutoEngine:
    """A model's folder, run by whichever engine suits the work; by one alone in integers.

    `arithmetic` is the type of the numbers that are multiplied.
    """

    def __init__(self, folder: Path, config: Config, precision: Precision = "float32") -> None:
        self._file, self._config = weights_file(folder), config
        self._weights = read_weights(self._file, config)  # mapped; says at once what is wrong
        self._lock, self._asked, self._settled = Lock(), 0, False
        self._jobs = 0  # that no change of engine may come into
        self.arithmetic = arithmetic_of(precision)
        if self.arithmetic == "float32":
            self._engine: Engine = OnnxEngine(self._file, self._weights, config)
        else:
            self._engine = self._compiled()
        if precision == "quantized" and self.arithmetic == "float32":
            warn(NOT_QUANTIZED)

    def run(self, batch: PackedBatch, layers: Sequence[int], threads: int) -> list[Float32Array]:
        """The hidden states asked for, each [pieces, dim], in the order asked for."""
        return self._engine.run(batch, layers, threads)

    def rouse(self) -> None:
        """Somebody asks for something; how much of it is to be seen."""
        self._engine.rouse()

    def expect(self, pieces: int) -> None:
        """So many pieces are about to come; from now on another engine may run them."""
        self._asked += max(pieces, CALL)
        if self._asked > MUCH and not self._jobs:
            self.settle()

    @contextmanager
    def one_job(self, pieces: int) -> Iterator[None]:
        """A job of so many pieces, run by one engine from beginning to end."""
        self.expect(pieces)
        self._jobs += 1
        try:
            yield
        finally:
            self._jobs -= 1

    def settle(self) -> None:
        """From now on the same engine runs everything, the fastest there is."""
        with self._lock:
            if not self._settled and self.arithmetic == "float32" and can_compile():
                self._engine = self._compiled()
            self._settled = True

    def _compiled(self) -> Engine:
        from malmoi.encode.runtime.compiled_engine import CompiledEngine  # imports Numba

        return CompiledEngine(self._weights, self._config, self.arithmetic)


def can_compile() -> bool:
    """Whether the kernels run here."""
    if platform.machine() not in ("x86_64", "AMD64") or not hasattr(os, "sched_yield"):
        return False
    from malmoi.kernels.transformer.gemm import USABLE

    return USABLE


def arithmetic_of(precision: Precision) -> Arithmetic:
    """What a model of this precision is computed in here: the fastest integers there are."""
    if precision == "float32" or not can_compile():
        return "float32"
    from malmoi.kernels.transformer import gemm_int8 as byte_products
    from malmoi.kernels.transformer import gemm_int16 as int16_products

    if byte_products.USABLE:
        return "int8"
    return "int16" if int16_products.USABLE else "float32"
