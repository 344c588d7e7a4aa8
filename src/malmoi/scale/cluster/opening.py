"""Where work over shards runs: `local`, or the Ray cluster of an address.

Imports Ray, through `ray_cluster`, only when a cluster is opened.
"""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from malmoi.arguments import expect
from malmoi.errors import InvalidArgumentError
from malmoi.extras import require
from malmoi.reporting.reporter import Reporter
from malmoi.scale.cluster.engines import LOCAL, RAY, RAY_SCHEME

if TYPE_CHECKING:
    from malmoi.scale.cluster.ray_cluster import RayCluster


def check_on(on: Any) -> None:
    """Raise `InvalidArgumentError` unless a value names a place to run on."""
    expect(on, str, "on", "local, ray, or the address of a cluster")
    if on not in (LOCAL, RAY) and not on.startswith(RAY_SCHEME):
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
    from malmoi.scale.cluster.ray_cluster import connect

    return connect(on, reporter)
