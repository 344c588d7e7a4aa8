"""The server as a process: socket, event loop, and a shutdown that finishes accepted requests."""

import errno
import gc
import logging
import signal
import socket
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from malmoi.errors import InvalidArgumentError, MalmoiWarning
from malmoi.extras import require
from malmoi.serve.http.auth import NO_KEYS, Access, AllowedHosts, ApiKeys, read_api_keys
from malmoi.serve.limits import Limits
from malmoi.serve.service.loaded_models import Models, load_models

if TYPE_CHECKING:
    import uvicorn

    from malmoi.serve.http.middleware import Tracing

SWITCH_INTERVAL = 0.0005  # seconds until a waiting thread gets Python's lock
BACKLOG = 2048  # connections that the kernel queues
PACKAGES = ("starlette", "uvicorn", "msgspec", "orjson", "httptools")  # of the extra `serve`


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """Where to listen, and which requests to accept; port 0 is any free port.

    A server that listens on localhost without API keys, or that has `allow_host`, accepts only
    its IP address, host names without a dot such as localhost, and the names of `allow_host`.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    api_key_file: Path | None = None
    allow_host: tuple[str, ...] = ()
    allow_origin: tuple[str, ...] = ()
    truncate: bool = True
    allow_token_ids: bool = False
    quiet: bool = False
    traces: bool = False
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, eq=False)
class PreparedServer:
    """Loaded models and a bound socket; it does not answer requests yet."""

    models: Models
    listening: socket.socket
    settings: ServerSettings
    keys: ApiKeys = NO_KEYS
    tracing: "Tracing | None" = None

    @property
    def address(self) -> str:
        """The URL of the server."""
        host, port = self.listening.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    @property
    def access(self) -> Access:
        """The API keys and host names that the server accepts."""
        names = tuple(name.lower() for name in self.settings.allow_host)
        is_local = ip_address(self.listening.getsockname()[0]).is_loopback
        checks_hosts = bool(names) or (is_local and not self.keys.hashes)
        return Access(self.keys, AllowedHosts(names) if checks_hosts else None)


def prepare(model_paths: dict[str, str], settings: ServerSettings) -> PreparedServer:
    """Load the models and bind the socket.

    Raises:
        MissingDependencyError: A package of the extra `serve`, or for traces of `telemetry`, is
            not installed.
        InvalidFileError: A model or the key file cannot be read.
        InvalidArgumentError: No model is named, or the port cannot be used.
    """
    for package in PACKAGES:
        require(package, extra="serve")
    keys = read_api_keys(settings.api_key_file) if settings.api_key_file else NO_KEYS
    listen(settings.host, settings.port).close()  # fails before the models take time to load
    tracing = start_tracing() if settings.traces else None
    models = load_models(model_paths)
    return PreparedServer(models, listen(settings.host, settings.port), settings, keys, tracing)


def start_tracing() -> "Tracing":
    """Traces by OpenTelemetry; the variables OTEL_* of the environment configure where they go.

    Raises:
        MissingDependencyError: OpenTelemetry or the exporter is not installed.
    """
    require("opentelemetry.sdk.trace", extra="telemetry")
    from malmoi.serve.traces import OpenTelemetryTracing, tracer_provider

    return OpenTelemetryTracing(tracer_provider())


def listen(host: str, port: int) -> socket.socket:
    """Bind a socket; raise `InvalidArgumentError` if the address cannot be used."""
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OverflowError as error:
        listening.close()
        raise InvalidArgumentError(
            f"port {port} is out of range: ports go from 0 to 65535"
        ) from error
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise InvalidArgumentError(
                f"port {port} of {host} is in use: stop the program that listens there, or choose"
                " another port"
            ) from error
        raise InvalidArgumentError(
            f"cannot listen at {host}:{port}: {error.strerror or error}"
        ) from error
    return listening


def make_server(prepared: PreparedServer, on_started: Callable[[], None]) -> "uvicorn.Server":
    """The uvicorn server; it calls `on_started` once it accepts requests."""
    import uvicorn

    from malmoi.serve.app import make_app
    from malmoi.serve.http.protocol import connection_class
    from malmoi.serve.logs import Log, UvicornLogHandler
    from malmoi.serve.metrics import Metrics
    from malmoi.serve.service.service import Service

    settings, limits = prepared.settings, prepared.settings.limits
    log, metrics = Log(None if settings.quiet else sys.stderr), Metrics()
    service = Service(
        prepared.models,
        limits,
        metrics,
        truncate=settings.truncate,
        allow_token_ids=settings.allow_token_ids,
        is_traced=prepared.tracing is not None,
    )
    app = make_app(
        service,
        metrics,
        access=prepared.access,
        origins=settings.allow_origin,
        log=log,
        tracing=prepared.tracing,
    )
    logger = logging.getLogger("uvicorn")
    logger.handlers, logger.propagate = [UvicornLogHandler(log)], False
    config = uvicorn.Config(
        app,
        http=connection_class(limits.max_connections, limits.idle_timeout),
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=max(1, round(limits.idle_timeout)),
        timeout_graceful_shutdown=round(limits.drain_timeout),
        ws="none",
    )

    class NotifyingServer(uvicorn.Server):
        """Calls `on_started` once it accepts requests."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_started()

    return NotifyingServer(config)


def run(prepared: PreparedServer, on_started: Callable[[], None]) -> None:
    """Serve until a signal stops the server; then finish the accepted requests."""
    server = make_server(prepared, on_started)
    warnings.filterwarnings("ignore", category=MalmoiWarning)  # clients get counts in headers
    sys.setswitchinterval(SWITCH_INTERVAL)
    gc.collect()
    gc.freeze()  # the models stay: collecting through them would delay requests
    with suppress(KeyboardInterrupt), stopped_by_hangup(server):  # uvicorn raises it at the end
        server.run(sockets=[prepared.listening])
    if prepared.tracing is not None:
        prepared.tracing.close()


def serve_tools(model_paths: dict[str, str], limits: Limits, *, quiet: bool = False) -> None:
    """Load models and serve tools for them by the Model Context Protocol over stdin and stdout.

    Args:
        model_paths: Paths of models by name.
        limits: Limits of calls.
        quiet: Write no log to standard error.

    Raises:
        MissingDependencyError: The package `mcp`, or one of the extra `serve`, is not installed.
        InvalidFileError: A model cannot be read.
        InvalidArgumentError: No model is named.
    """
    for package in PACKAGES:
        require(package, extra="serve")
    require("mcp", extra="mcp")
    from malmoi.serve.logs import Log
    from malmoi.serve.mcp.stdio_server import run_over_stdio

    run_over_stdio(load_models(model_paths), limits, Log(None if quiet else sys.stderr))


@contextmanager
def stopped_by_hangup(server: "uvicorn.Server") -> Iterator[None]:
    """Handle SIGHUP of a closed terminal like SIGTERM, unless nohup has it ignored."""
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is None or signal.getsignal(hangup) is signal.SIG_IGN:
        yield
        return
    previous = signal.signal(hangup, server.handle_exit)
    try:
        yield
    finally:
        signal.signal(hangup, previous)
