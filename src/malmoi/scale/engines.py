"""Where work over shards runs: `local`, or the Ray cluster of an address.

Imports Ray, through `ray_cluster`, only when a cluster is opened.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from malmoi.errors import InvalidArgumentError
from malmoi.extras import require
from malmoi.reporting.reporter import Reporter

if TYPE_CHECKING:
    from malmoi.scale.ray_cluster import RayCluster

LOCAL, RAY, RAY_SCHEME = "local", "ray", "ray://"

Item = TypeVar("Item")
Result = TypeVar("Result")
ItemContra = TypeVar("ItemContra", contravariant=True)
ResultCo = TypeVar("ResultCo", covariant=True)


class WorkerFactory(Protocol[ItemContra, ResultCo]):
    """Makes the function that a worker calls with items; it is pickled, and called on the worker."""

    def __call__(self, threads: int | None = None) -> Callable[[ItemContra], ResultCo]:
        """Prepare the worker, such as by loading a model, for so many threads."""


class LocalEngine:
    """Runs work in this process, as a cluster does elsewhere."""

    def map(
        self,
        factory: WorkerFactory[Item, Result],
        items: Sequence[Item],
        *,
        names: Sequence[str] = (),
    ) -> Iterator[tuple[int, Result]]:
        """The positions and results of items, one after the other."""
        work = factory()
        for position, item in enumerate(items):
            yield position, work(item)


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
