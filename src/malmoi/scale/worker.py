"""ShardWorker: holds a model, and embeds shards one after the other; in any process.

Imports almost nothing by itself: the number of threads is limited before kernels are imported.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from malmoi.scale.inputs import Shard
    from malmoi.scale.manifest import ModelIdentity
    from malmoi.scale.settings import ShardSettings
    from malmoi.scale.shard_writer import ShardReport


@dataclass(frozen=True)
class ShardWorker:
    """What a worker needs; calling it loads the model and returns the function that embeds.

    Loading takes place on the worker, which checks that it has the model of the folder.
    """

    model: "ModelIdentity"
    folder: Path
    settings: "ShardSettings"

    def __call__(self, threads: int | None = None) -> "Callable[[Shard], ShardReport]":
        """Load the model; the function embeds a shard, unless that is done already.

        Raises:
            MalmoiError: The model cannot be loaded, or is another one.
        """
        limit_threads(threads)
        from malmoi.encode.loading import load_encoder
        from malmoi.errors import InvalidArgumentError
        from malmoi.scale.manifest import Manifest
        from malmoi.scale.shard_writer import ShardReport, embed_shard

        encoder = load_encoder(self.model.name)
        if not self.model.is_of(encoder):
            raise InvalidArgumentError(
                f"'{self.model.name}' on {os.uname().nodename} is another model than on the driver:"
                " install the same one on every node"
            )
        written = Manifest(self.model, {})

        def work(shard: "Shard") -> ShardReport:
            if written.is_written(self.folder, shard):  # by a worker that died before it said so
                return ShardReport(shard.target, written.shards.pop(shard.target))
            return embed_shard(encoder, shard, self.folder, self.settings)

        return work


def limit_threads(threads: int | None) -> None:
    """Let kernels that are imported from now on use so many threads, on any of the cores."""
    if threads is None or not hasattr(os, "sched_setaffinity"):
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(cores)[:threads])
    try:
        import malmoi.kernels.threads  # noqa: F401  # counts the cores of the process
    finally:
        os.sched_setaffinity(0, cores)
