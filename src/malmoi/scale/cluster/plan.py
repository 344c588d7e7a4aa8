"""The plan of a run on a cluster: how many workers, and how many threads each of them has.

Ray Data schedules its own tasks on the same logical CPUs as the workers, and waits without a word
if there are none left. So one logical CPU of each node stays free. Knows nothing about Ray itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from malmoi.errors import InvalidArgumentError

FREE_CPUS = 1  # of each node
MIN_CPUS = 1 + FREE_CPUS


@dataclass(frozen=True)
class WorkerPlan:
    """`workers` processes that hold a model, with `threads` logical CPUs each."""

    workers: int
    threads: int


def plan_workers(cpus: Mapping[str, float], work: int) -> WorkerPlan:
    """The plan for the logical CPUs of each node, by its address; at most `work` workers.

    The smallest node decides on the threads; larger nodes hold several workers.

    Raises:
        InvalidArgumentError: No node has enough logical CPUs.
    """
    usable = [int(count) for count in cpus.values() if count >= MIN_CPUS]
    if not usable:
        nodes = ", ".join(f"{node} has {count:g}" for node, count in sorted(cpus.items()))
        raise InvalidArgumentError(
            f"no node of the Ray cluster has {MIN_CPUS} logical CPUs ({nodes}): one of each node"
            f" stays free for Ray Data, so start nodes with --num-cpus={MIN_CPUS} or more"
        )
    threads = min(usable) - FREE_CPUS
    workers = sum((count - FREE_CPUS) // threads for count in usable)
    return WorkerPlan(max(1, min(workers, work)), threads)
