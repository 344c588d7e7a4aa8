"""Engines that run work over items: in this process, or, as `ray_cluster` does, on a cluster.

Knows nothing about Ray.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

LOCAL, RAY, RAY_SCHEME = "local", "ray", "ray://"

Item = TypeVar("Item")
Result = TypeVar("Result")
ItemContra = TypeVar("ItemContra", contravariant=True)
ResultCo = TypeVar("ResultCo", covariant=True)


class WorkerFactory(Protocol[ItemContra, ResultCo]):
    """Makes the function that a worker calls with items; it is pickled, and called there."""

    def __call__(self, threads: int | None = None) -> Callable[[ItemContra], ResultCo]:
        """Prepare the worker, such as by loading a model, for so many threads."""


class Shared(Protocol[ResultCo]):
    """A value that every worker reads, such as a large array; pickled, it is a reference."""

    def get(self) -> ResultCo:
        """The value."""


class WorkEngine(Protocol):
    """Runs work over items: in this process, or by the workers of a cluster."""

    def map(
        self,
        factory: WorkerFactory[Item, Result],
        items: Sequence[Item],
        *,
        names: Sequence[str] = (),
    ) -> Iterator[tuple[int, Result]]:
        """The positions and results of items, in any order, each exactly once."""

    def share(self, value: Result) -> Shared[Result]:
        """Give a value to all workers."""

    def cpus(self) -> dict[str, float]:
        """The logical CPUs of each node."""


@dataclass(frozen=True)
class LocalValue(Generic[Result]):
    """A value of this process."""

    value: Result

    def get(self) -> Result:
        """The value."""
        return self.value


class LocalEngine:
    """Runs work in this process, one item after the other."""

    def map(
        self,
        factory: WorkerFactory[Item, Result],
        items: Sequence[Item],
        *,
        names: Sequence[str] = (),
    ) -> Iterator[tuple[int, Result]]:
        """The positions and results of items, in their order."""
        work = factory()
        for position, item in enumerate(items):
            yield position, work(item)

    def share(self, value: Result) -> LocalValue[Result]:
        """The value itself."""
        return LocalValue(value)

    def cpus(self) -> dict[str, float]:
        """Those of this machine."""
        from malmoi.kernels.threads import THREADS  # a worker imports it later

        return {"local": float(THREADS)}
