"""GloVeTrainer: the iterations of GloVe, in chunks of records."""

from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np

from malmoi.arrays import Float32Array, UInt32Array
from malmoi.files.tensors import Tensors
from malmoi.kernels.glove.glove_trainer import GloVeKernel
from malmoi.models.cooccurrences import Cooccurrences
from malmoi.reporting.reporter import Reporter
from malmoi.train.common.epochs import PENDING, EpochTrainer
from malmoi.train.glove.records import Records, chunks_per_iteration, record_memory
from malmoi.train.glove.tables import TablePair, row_bytes

GloVeJob = tuple[int, int, UInt32Array]  # iteration, chunk, groups of records


class GloVeTrainer(EpochTrainer[GloVeJob]):
    """Trains tables on records; `losses` [iterations, chunks] are sums over a chunk's records."""

    unit = "records"

    def __init__(
        self,
        records: Records,
        tables: TablePair,
        *,
        learning_rate: float,
        iterations: int,
        seed: int,
        threads: int,
    ) -> None:
        super().__init__(
            np.full((iterations, chunks_per_iteration(records)), PENDING),
            steps=len(records),
            threads=threads,
            learning_rate=learning_rate,
        )
        self.records, self.word_table, self.context_table = records, *tables
        self.seed = seed
        self._kernel = GloVeKernel(
            (records.bounds, records.rows), records.columns, records.logs, records.weights, tables
        )
        self._unreported: list[int] | None = None  # iterations whose loss is still to come

    def tensors(self) -> Tensors:
        """Both tables with their squared gradients."""
        return {"words": self.word_table, "contexts": self.context_table}

    def weights(self) -> Iterable[Float32Array]:
        """Both tables without the squared gradients."""
        for table in (self.word_table, self.context_table):
            yield table[:, : table.shape[1] // 2]

    def jobs(self, chunks: Iterable[int]) -> Iterator[GloVeJob]:
        """Iteration, number and groups of each chunk; each iteration is shuffled by its seed."""
        count = self.losses.shape[1]
        for iteration, numbers in groupby(chunks, lambda chunk: chunk // count):
            groups = self.records.chunks(self.seed, iteration)
            for number in numbers:
                yield iteration, number % count, groups[number % count]

    def train_chunk(self, job: GloVeJob) -> None:
        """Train one chunk of one iteration."""
        iteration, chunk, groups = job
        with np.errstate(over="ignore"):  # a rate that becomes inf shows in the loss
            rate = np.float32(self.learning_rate)
        self._kernel.learn(self.records.sorted(groups), rate, self.losses[iteration], chunk)

    def report_loss(self, reporter: Reporter) -> None:
        """Report the loss of each iteration that has finished since the last call."""
        if self._unreported is None:  # a resumed training reports only what it trains itself
            pending = np.any(self.losses == PENDING, axis=1)
            self._unreported = np.flatnonzero(pending).tolist()
        while self._unreported and np.all(self.losses[self._unreported[0]] != PENDING):
            reporter.loss(self.epoch_loss(self._unreported.pop(0)))

    def epoch_loss(self, epoch: int) -> float:
        """The loss of an iteration: J divided by the number of records."""
        loss = float(self.losses[epoch].sum() / len(self.records))
        self.check_finite(loss)
        return loss


def memory_needed(counts: Cooccurrences, dim: int) -> int:
    """Bytes for the records and for both tables with their squared gradients."""
    return record_memory(counts) + 2 * len(counts.vocabulary) * row_bytes(dim)
