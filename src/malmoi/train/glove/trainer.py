"""GloVe's iterations: chunks of records learnt by several threads, without locks.

All that is remembered are the two tables and the loss of each chunk, which a kernel sets when
it is done with it; the order of an iteration follows from the seed. So wherever a training is
stopped, what is left to do is known.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import groupby

import numpy as np

from malmoi.arrays import Float64Array, UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.files.checkpoint import Checkpoint, Checkpointer
from malmoi.kernels.glove.glove_trainer import GloVeKernel
from malmoi.models.cooccurrences import Cooccurrences
from malmoi.reporting.reporter import Progress
from malmoi.text.parallel import in_order
from malmoi.train.glove.records import Records, chunks_of, memory_of_records
from malmoi.train.glove.tables import Sides, row_bytes

TO_DO = -1.0  # the loss of a chunk that was not learnt yet

Told = Callable[[float], None]  # takes the loss of an iteration


class GloVeTrainer:
    """Tables that learn records; `losses` [iterations, chunks] are sums over a chunk's records."""

    def __init__(
        self, records: Records, tables: Sides, *, rate: float, iterations: int, seed: int
    ) -> None:
        self.records, self.tables = records, tables
        self._trainer = GloVeKernel(
            (records.bounds, records.rows), records.columns, records.logs, records.weights, tables
        )
        self.rate, self.seed = rate, seed
        self.losses: Float64Array = np.full((iterations, chunks_of(records)), TO_DO)

    def run(self, threads: int, keeper: Checkpointer, progress: Progress, told: Told) -> None:
        """Do what is left to do; how far it is goes to the keeper, also when interrupted."""
        waited_for = np.flatnonzero(np.any(self.losses == TO_DO, axis=1)).tolist()
        try:
            while len(left := np.flatnonzero(self.losses == TO_DO)):
                self._say(progress)
                chunks = self._chunks(keeper.until_due(left.tolist()))
                with closing(in_order(self._learn, chunks, threads)) as learnt:
                    for _ in learnt:
                        self._say(progress)
                        if waited_for and np.all(self.losses[waited_for[0]] != TO_DO):
                            told(self._loss(waited_for.pop(0)))
                if keeper.is_due:  # nobody is at work now: the tables stay as they are
                    keeper.save(self.as_checkpoint())
        except KeyboardInterrupt:
            keeper.save(self.as_checkpoint())
            raise
        for table in self.tables:  # the loss does not tell of the last steps
            numbers = table[:, : table.shape[1] // 2]
            self._refuse_overflow(len(self.losses), float(numbers.min()), float(numbers.max()))

    def mean_losses(self) -> tuple[float, ...]:
        """The loss of each iteration: J for each record."""
        return tuple(self._loss(iteration) for iteration in range(len(self.losses)))

    def as_checkpoint(self) -> Checkpoint:
        """All that the rest of the training depends on."""
        words, contexts = self.tables
        return Checkpoint({"words": words, "contexts": contexts, "losses": self.losses}, {})

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from there."""
        checkpoint.copy_to(self.as_checkpoint().tensors)

    def _chunks(self, places: Iterable[int]) -> Iterator[tuple[int, int, UInt32Array]]:
        """Iteration, number and groups of the chunks at these places, in their order."""
        count = self.losses.shape[1]
        for iteration, some in groupby(places, lambda place: place // count):
            chunks = self.records.chunks(self.seed, iteration)
            for place in some:
                yield iteration, place % count, chunks[place % count]

    def _learn(self, given: tuple[int, int, UInt32Array]) -> None:
        (iteration, chunk, groups), records = given, self.records
        with np.errstate(over="ignore"):  # what it does is told by the loss
            rate = np.float32(self.rate)
        self._trainer.learn(records.sorted(groups), rate, self.losses[iteration], chunk)

    def _loss(self, iteration: int) -> float:
        loss = float(self.losses[iteration].sum() / len(self.records))
        self._refuse_overflow(iteration + 1, loss)
        return loss

    def _refuse_overflow(self, iterations: int, *numbers: float) -> None:
        if not np.all(np.isfinite(numbers)):
            raise InvalidArgumentError(
                f"after {iterations} iterations nothing is learnt any more: learning_rate is"
                f" {self.rate:g}, lower it"
            )

    def _say(self, progress: Progress) -> None:
        total = len(self.losses) * len(self.records)
        done = int(np.count_nonzero(self.losses != TO_DO))
        progress(total * done // self.losses.size, total)


def memory_of_learning(counts: Cooccurrences, dim: int) -> int:
    """How many bytes a training takes: two tables with their squares, and the records."""
    return memory_of_records(counts) + 2 * len(counts.vocabulary) * row_bytes(dim)
