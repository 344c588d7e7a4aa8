"""Where work over shards runs: `local`, or the Ray cluster of an address.

Imports Ray, through `ray_cluster`, only when a cluster is opened.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from malmoi.errors import InvalidArgumentError
from malmoi.extras import require
from malmoi.kernels.threads import THREADS
from malmoi.reporting.reporter import Reporter

if TYPE_CHECKING:
    from malmoi.scale.ray_cluster import RayCluster

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
        return {"local": float(THREADS)}


def check_on(on: Any) -> None:
    """Raise `InvalidArgumentError` unless a value names a place to run on."""
    if on not in (LOCAL, RAY) and not (isinstance(on, str) and on.startswith(RAY_SCHEME)):
        raise InvalidArgumentError(
            f"on is {on!r}: it must be local, ray, or the address of a cluster such as"
            " ray://head:6379"
        )


def open_cluster(on: str, reporter: Reporter) -> "AbstractContextManager[RayCluster]":
    """Connect to a cluster, or start one on this machine; it is left at the end.

    Raises:
        MissingDependencyError: Ray is not installed.
        InvalidArgumentError: There is no cluster at the address, or no node of it.
    """
    require("ray", extra="scale")
    from malmoi.scale.ray_cluster import connect

    return connect(on, reporter)
