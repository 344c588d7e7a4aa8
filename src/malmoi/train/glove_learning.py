"""GloVe's iterations: chunks of records learnt by several threads, without locks.

All that is remembered are the two tables and the loss of each chunk, which a kernel sets when
it is done with it; the order of an iteration follows from the seed. So wherever a training is
stopped, what is left to do is known.
"""

from collections.abc import Callable
from contextlib import closing

import numpy as np

from malmoi.errors import BadSetting
from malmoi.files.progress import Progress
from malmoi.kernels.cooccurrence import Sums
from malmoi.kernels.glove import learn_groups
from malmoi.models.cooccurrences import Cooccurrences
from malmoi.text.parallel import in_order
from malmoi.train.checkpoint import Checkpoint, Keeper
from malmoi.train.glove_records import Records, chunks_of, memory_of_records
from malmoi.train.glove_tables import Sides, row_bytes

TO_DO = -1.0  # the loss of a chunk that was not learnt yet

Told = Callable[[float], None]  # takes the loss of an iteration


class Learning:
    """Tables that learn records; `losses` [iterations, chunks] are sums over a chunk's records."""

    def __init__(self, records: Records, tables: Sides, *, rate: float, iterations: int) -> None:
        self.records, self.tables, self.rate = records, tables, np.float32(rate)
        self.losses: Sums = np.full((iterations, chunks_of(records)), TO_DO)

    def run(self, seed: int, threads: int, keeper: Keeper, progress: Progress, told: Told) -> None:
        """Do what is left to do; how far it is goes to the keeper, also when interrupted."""
        try:
            for iteration in range(len(self.losses)):
                if np.any(self.losses[iteration] == TO_DO):
                    self._iterate(iteration, seed, threads, keeper, progress)
                    told(self._loss(iteration))
        except KeyboardInterrupt:
            keeper.save(self.as_checkpoint())
            raise

    def mean_losses(self) -> tuple[float, ...]:
        """The loss of each iteration: J for each record."""
        return tuple(self._loss(iteration) for iteration in range(len(self.losses)))

    def as_checkpoint(self) -> Checkpoint:
        """All that the rest of the training depends on."""
        words, contexts = self.tables
        return Checkpoint({"words": words, "contexts": contexts, "losses": self.losses}, {})

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from there."""
        for name, array in self.as_checkpoint().tensors.items():
            array[:] = checkpoint.tensors[name]

    def _iterate(
        self, iteration: int, seed: int, threads: int, keeper: Keeper, progress: Progress
    ) -> None:
        chunks, losses = self.records.chunks(seed, iteration), self.losses[iteration]

        def learn(chunk: int) -> None:
            found, tables = self.records, self.tables
            order = found.sorted(chunks[chunk])
            entries = found.columns, found.logs, found.weights
            learn_groups(
                order, found.bounds, found.rows, *entries, *tables, self.rate, losses, chunk
            )

        while len(left := np.flatnonzero(losses == TO_DO)):
            self._say(progress)
            with closing(in_order(learn, keeper.until_due(left.tolist()), threads)) as learnt:
                for _ in learnt:
                    self._say(progress)
            if keeper.is_due:  # nobody is at work now: the tables stay as they are
                keeper.save(self.as_checkpoint())

    def _loss(self, iteration: int) -> float:
        loss = float(self.losses[iteration].sum() / len(self.records))
        if not np.isfinite(loss):
            raise BadSetting(
                f"after {iteration + 1} iterations nothing is learnt any more: learning_rate is"
                f" {self.rate:g}, lower it"
            )
        return loss

    def _say(self, progress: Progress) -> None:
        total = len(self.losses) * len(self.records)
        done = int(np.count_nonzero(self.losses != TO_DO))
        progress(total * done // self.losses.size, total)


def memory_of_learning(counts: Cooccurrences, dim: int) -> int:
    """How many bytes a training takes: two tables with their squares, and the records."""
    return memory_of_records(counts) + 2 * len(counts.vocabulary) * row_bytes(dim)
