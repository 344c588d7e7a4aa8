"""RayCluster: work over items on a Ray cluster, by Ray Data; the one module that imports Ray.

Items go to a pool of workers, one item at a time. A worker that dies with its node fails its item,
which the next round hands to another worker; the others go on. Knows nothing about vectors.
"""

import contextlib
import logging
import os
import pickle
import socket
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Full, Queue
from tempfile import gettempdir
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any, Generic, cast

ENVIRONMENT = {  # of Ray, read when it is imported or started
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_worker_niceness": "0",  # else workers starve beside any other work of a node
}
for _name, _value in ENVIRONMENT.items():
    os.environ.setdefault(_name, _value)

import ray  # noqa: E402
import ray.data  # noqa: E402
from ray.util.annotations import RayDeprecationWarning  # noqa: E402

from malmoi.errors import InvalidArgumentError, MalmoiError  # noqa: E402
from malmoi.reporting.reporter import Reporter  # noqa: E402
from malmoi.scale.cluster.engines import RAY, RAY_SCHEME, Item, Result, WorkerFactory  # noqa: E402
from malmoi.scale.cluster.plan import FREE_CPUS, MIN_CPUS, WorkerPlan, plan_workers  # noqa: E402

CONNECT_SECONDS = 10.0  # to reach the head of a cluster
NODE_SECONDS = 60.0  # without a node that can run a worker
POLL_SECONDS = 1.0
WAITING = object()  # for an answer
MAX_DEATHS = 3  # of the workers of one item


class PoolWorker:
    """One process of the pool: Ray Data makes it, and calls it with one item at a time."""

    def __init__(self, factory: Any, threads: int) -> None:
        self.work, self.error = None, ""
        try:
            self.work = factory(threads)
        except Exception as error:  # raised here, it would be raised by one worker after the other
            self.error = _sentence(error)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """The result of an item, or the sentence of an error."""
        result, error = None, self.error
        if self.work is not None:
            try:
                result = self.work(pickle.loads(batch["item"][0]))
            except Exception as raised:  # only a worker that dies is tried again
                error = _sentence(raised)
        answer = pickle.dumps((result, error))
        return {"position": batch["position"], "answer": [answer]}


@dataclass(frozen=True)
class RayValue(Generic[Result]):
    """A value in Ray's object store."""

    reference: Any

    def get(self) -> Result:
        """The value; arrays are mapped."""
        return cast(Result, ray.get(self.reference))


class RayCluster:
    """A cluster that this process is connected to."""

    def __init__(self, reporter: Reporter) -> None:
        self.reporter = reporter

    def map(
        self,
        factory: WorkerFactory[Item, Result],
        items: Sequence[Item],
        *,
        names: Sequence[str] = (),
    ) -> Iterator[tuple[int, Result]]:
        """The positions and results of items, in any order, each exactly once.

        `names` are those of the items in messages.

        Raises:
            InvalidArgumentError: No node can run a worker.
            MalmoiError: The work on an item failed, or killed its worker again and again.
        """
        rest, deaths = dict(enumerate(items)), Counter[int]()
        while rest:
            plan = self._wait_for_plan(len(rest))
            for position, answer in self._round(factory, rest, plan):
                result, error = pickle.loads(answer)
                if error:
                    raise MalmoiError(error)
                if rest.pop(position, None) is not None:
                    yield position, cast(Result, result)
            deaths.update(rest.keys())
            for position in rest:
                if deaths[position] >= MAX_DEATHS:
                    name = names[position] if names else f"item {position}"
                    raise MalmoiError(
                        f"{name}: its worker died {MAX_DEATHS} times; it may need more memory than"
                        " a node has, so split the file"
                    )
            if rest:
                self.reporter.warn(f"a worker of the cluster died: {len(rest):,} shards go again")

    def share(self, value: Result) -> "RayValue[Result]":
        """Put a value into Ray's object store, of which each node holds one copy."""
        return RayValue(ray.put(value))

    def _round(
        self, factory: Any, items: dict[int, Any], plan: WorkerPlan
    ) -> Iterator[tuple[int, bytes]]:
        """Run Ray Data over items; those whose worker dies are missing among the answers."""
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.max_errored_blocks = -1
        dataset = _pooled(factory, items, plan)
        answers: Queue[Any] = Queue(maxsize=2 * plan.workers)
        is_over = Event()
        Thread(target=_read, args=(dataset, answers, is_over), daemon=True).start()
        lost_since = None
        try:
            while (answer := self._next(answers)) is not None:
                if isinstance(answer, BaseException):
                    raise MalmoiError(f"the work on the cluster failed: {_last_line(answer)}")
                if answer is not WAITING:
                    yield answer["position"], answer["answer"]
                    continue
                lost_since = None if self._has_node(plan) else lost_since or monotonic()
                if lost_since is not None and monotonic() - lost_since > NODE_SECONDS:
                    raise MalmoiError(_no_node(plan))
        finally:
            is_over.set()

    def _next(self, answers: "Queue[Any]") -> Any:
        try:
            return answers.get(timeout=POLL_SECONDS)
        except Empty:
            return WAITING

    def _wait_for_plan(self, work: int) -> WorkerPlan:
        """The plan for the nodes that are there; waits for a first node, and for a free CPU."""
        end = monotonic() + NODE_SECONDS
        while not (cpus := self.cpus()) or not max(cpus.values()):
            if monotonic() > end:
                raise InvalidArgumentError(
                    f"no node with CPUs has joined the Ray cluster for {NODE_SECONDS:.0f} seconds:"
                    f" start one with ray start --num-cpus={MIN_CPUS} or more"
                )
            sleep(POLL_SECONDS)
        plan = plan_workers(cpus, work)
        while (free := ray.available_resources().get("CPU", 0)) < plan.threads:
            if monotonic() > end:
                raise InvalidArgumentError(
                    f"{sum(cpus.values()):g} CPUs of the Ray cluster are in use by other work, only"
                    f" {free:g} are free: a worker needs {plan.threads}"
                )
            sleep(POLL_SECONDS)
        return plan

    def cpus(self) -> dict[str, float]:
        """The logical CPUs of each node that is alive, by its id."""
        return {
            f"{node['NodeManagerAddress']} {node['NodeID'][:6]}": node["Resources"].get("CPU", 0)
            for node in ray.nodes()
            if node["Alive"]
        }

    def _has_node(self, plan: WorkerPlan) -> bool:
        return any(count >= plan.threads for count in self.cpus().values())


def _pooled(factory: Any, items: dict[int, Any], plan: WorkerPlan) -> Any:
    """The dataset of the answers to items by a pool of workers."""
    rows = [{"position": at, "item": pickle.dumps(item)} for at, item in items.items()]
    pool = ray.data.ActorPoolStrategy(size=plan.workers, max_tasks_in_flight_per_actor=1)
    with warnings.catch_warnings():  # Ray Data will take the last two by other names
        warnings.simplefilter("ignore", RayDeprecationWarning)
        return ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
            PoolWorker,
            fn_constructor_args=(factory, plan.threads),
            batch_size=1,
            compute=pool,
            num_cpus=plan.threads,
            max_restarts=-1,
            max_task_retries=0,  # a retried task waits for its own worker, perhaps for ever
        )


def _read(dataset: Any, answers: "Queue[Any]", is_over: Event) -> None:
    """Put the rows of a dataset into a queue, then None, or the error that ended it."""

    def put(answer: Any) -> None:
        while not is_over.is_set():
            with contextlib.suppress(Full):
                answers.put(answer, timeout=POLL_SECONDS)
                return

    try:
        for row in dataset.iter_rows():
            put(row)
            if is_over.is_set():  # dropping the iterator ends the workers
                break
        put(None)
    except BaseException as error:
        put(error)


@contextmanager
def connect(on: str, reporter: Reporter) -> Iterator[RayCluster]:
    """Connect to a cluster; one that this process is connected to already stays so.

    Raises:
        InvalidArgumentError: There is no cluster at the address.
    """
    if ray.is_initialized():
        yield RayCluster(reporter)
        return
    _silence()
    try:
        _start(on)
        yield RayCluster(reporter)
    finally:
        ray.shutdown()


def _start(on: str) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    address = on.removeprefix(RAY_SCHEME) if on != RAY else os.environ.get("RAY_ADDRESS", "")
    address = address.removeprefix(RAY_SCHEME)
    if address:
        _check_reachable(address)
        _join(address, quiet)
        return
    if recorded := _recorded_address():
        try:
            _join(recorded, quiet)
        except InvalidArgumentError:
            ray.shutdown()
        else:
            return
    from malmoi.kernels.threads import THREADS  # a worker imports it later

    cpus = THREADS + FREE_CPUS
    with _muted():
        ray.init(address="local", num_cpus=cpus, include_dashboard=False, **quiet)


def _join(address: str, quiet: dict[str, Any]) -> None:
    try:
        with _muted():
            ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise InvalidArgumentError(
            f"cannot join the Ray cluster at {address}: {_last_line(error)}; if it asks for a"
            " token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN here too"
        ) from error


def _recorded_address() -> str:
    """The address of the last cluster that `ray start` started here; it may be gone."""
    record = Path(os.environ.get("RAY_TMPDIR", gettempdir()), "ray", "ray_current_cluster")
    try:
        address = record.read_text("utf-8").strip()
        _check_reachable(address)
    except (OSError, InvalidArgumentError):
        return ""
    return address


def _check_reachable(address: str) -> None:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise InvalidArgumentError(
            f"'{address}' is not the address of a Ray cluster: write ray://host:port, with the port"
            " of ray start --head (6379)"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise InvalidArgumentError(_unreachable(address)) from error


def _unreachable(address: str) -> str:
    return (
        f"there is no Ray cluster at {address}: start its head with ray start --head --port=6379,"
        " and run this on one of its nodes"
    )


def _no_node(plan: WorkerPlan) -> str:
    return (
        f"no node of the Ray cluster has had {plan.threads} CPUs for {NODE_SECONDS:.0f} seconds:"
        " start one, and run the same again to continue"
    )


def _sentence(error: Exception) -> str:
    name = "" if isinstance(error, MalmoiError) else f"{type(error).__name__}: "
    return f"{name}{error}"


def _last_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


@contextmanager
def _muted() -> Iterator[None]:
    """Drop what Ray writes to stderr by itself while it starts; errors are raised."""
    sys.stderr.flush()
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def _silence() -> None:
    """Keep the logs of Ray in its files: the reporter shows progress and warnings."""
    for name in ("ray", "ray.data"):
        for handler in logging.getLogger(name).handlers:
            is_console = type(handler).__name__ in ("StreamHandler", "PlainRayHandler")
            with contextlib.suppress(AttributeError):
                handler.setLevel(logging.CRITICAL + 1 if is_console else handler.level)
