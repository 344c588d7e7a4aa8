"""ElmoEngine: batches of words through the network of ELMo, in NumPy or by compiled kernels."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.checkpoint.elmo_options import ElmoConfig
from malmoi.encode.checkpoint.elmo_weights import ElmoWeights
from malmoi.encode.elmo.bilm import TimeSteps, run_bilm
from malmoi.encode.elmo.numpy_network import ElmoNetwork, NumpyNetwork
from malmoi.encode.elmo.word_vectors import WordVectors
from malmoi.encode.protocol import Arithmetic
from malmoi.encode.runtime.batches import batches
from malmoi.encode.runtime.engine import can_compile
from malmoi.encode.runtime.engine_switch import EngineSwitch

COMPILE_AFTER_TOKENS = 3_000  # some seconds of work
MAX_BATCH_TEXTS = 64  # enough rows at each step that products are fast
MAX_BATCH_TOKENS = 4096  # whose states are in memory


class ElmoEngine(EngineSwitch):
    """Runs a model in NumPy first and with compiled kernels once there is more work."""

    arithmetic: Arithmetic = "float32"

    def __init__(self, weights: ElmoWeights, config: ElmoConfig) -> None:
        super().__init__()
        self._weights, self._config = weights, config
        self._use(NumpyNetwork(weights, config))

    @property
    def dim(self) -> int:
        """The dimension of a token's vector."""
        return self._config.dim

    def prepare(self, encodings: Sequence[Any]) -> None:
        """Count the tokens of a call, and compute the vectors of all words that are new."""
        super().prepare(encodings)
        self._words.add(encoding.ids for encoding in encodings)

    def batches(self, sizes: Int64Array) -> Iterator[Int64Array]:
        """The texts of each batch, of similar length."""
        return batches(sizes, MAX_BATCH_TOKENS, MAX_BATCH_TEXTS)

    def run_texts(
        self, encodings: Sequence[Any], layers: Sequence[int], threads: int
    ) -> list[Float32Array]:
        """The hidden states of encoded texts, each [tokens of all texts, dim]."""
        network, words = self._network, self._words
        sizes = np.array([len(encoding) for encoding in encodings], np.int64)
        tokens = words.of(np.concatenate([encoding.ids for encoding in encodings]))
        return run_bilm(network, self._config, tokens, TimeSteps(sizes), layers, threads=threads)

    def wake_workers(self) -> None:
        """No thread sleeps between batches."""

    @property
    def _compile_after_tokens(self) -> int:
        return COMPILE_AFTER_TOKENS

    def _use_kernels(self) -> None:
        if can_compile():
            from malmoi.encode.elmo.compiled_network import CompiledNetwork  # imports Numba

            self._use(CompiledNetwork(self._weights, self._config))

    def _use(self, network: ElmoNetwork) -> None:
        """Use a network, without what another one has computed."""
        self._network = network
        self._words = WordVectors(network.words, self._config.projection)
