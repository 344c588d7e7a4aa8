"""The server as a process: a socket, an event loop, and an end that loses nothing."""

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
from malmoi.serve.http.auth import ANYBODY, AllowedHosts, ApiKeys, read_keys
from malmoi.serve.limits import Limits
from malmoi.serve.service.loaded_models import Models, load_models

if TYPE_CHECKING:
    import uvicorn

SWITCH = 0.0005  # seconds after which a thread that waits for its turn in Python gets it
BACKLOG = 2048


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """Where to listen and whom to answer; port 0 is any that is free.

    Where only this machine can ask and needs no key, or names are given by `allow_host`, it must
    be asked by its address, under one of them, or one without a dot, such as localhost.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    api_key_file: Path | None = None
    allow_host: tuple[str, ...] = ()
    allow_origin: tuple[str, ...] = ()
    truncate: bool = True
    allow_token_ids: bool = False
    quiet: bool = False
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, eq=False)
class PreparedServer:
    """Everything opened, nothing answered yet."""

    models: Models
    listening: socket.socket
    settings: ServerSettings
    keys: ApiKeys = ANYBODY

    @property
    def address(self) -> str:
        """Where it listens."""
        host, port = self.listening.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    @property
    def names(self) -> AllowedHosts | None:
        """The names it is asked under; `None` is any."""
        others = tuple(name.lower() for name in self.settings.allow_host)
        is_local = ip_address(self.listening.getsockname()[0]).is_loopback
        return AllowedHosts(others) if others or (is_local and not self.keys.hashes) else None


def prepare(places: dict[str, str], settings: ServerSettings) -> PreparedServer:
    """Open the models, then the socket; whatever is wrong is said now."""
    for package in ("starlette", "uvicorn", "msgspec", "orjson", "httptools"):
        require(package, extra="serve")
    keys = read_keys(settings.api_key_file) if settings.api_key_file else ANYBODY
    listen(settings.host, settings.port).close()  # said before models take their time
    models = load_models(places)
    return PreparedServer(models, listen(settings.host, settings.port), settings, keys)


def listen(host: str, port: int) -> socket.socket:
    """A socket that is bound, or one clear sentence."""
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OverflowError as error:
        listening.close()
        raise InvalidArgumentError(f"there is no port {port}: they go from 0 to 65535") from error
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise InvalidArgumentError(
                f"port {port} of {host} is in use: stop what listens there, or choose another port"
            ) from error
        raise InvalidArgumentError(
            f"cannot listen at {host}:{port}: {error.strerror or error}"
        ) from error
    return listening


def make_server(prepared: PreparedServer, announce: Callable[[], None]) -> "uvicorn.Server":
    """All that answers, ready to run."""
    import uvicorn

    from malmoi.serve.app import make_app
    from malmoi.serve.http.protocol import connection_class
    from malmoi.serve.logs import Forwarding, Log
    from malmoi.serve.service.service import Service

    settings, limits = prepared.settings, prepared.settings.limits
    log = Log(None if settings.quiet else sys.stderr)
    service = Service(
        prepared.models, limits, truncate=settings.truncate, token_ids=settings.allow_token_ids
    )
    app = make_app(
        service,
        keys=prepared.keys,
        names=prepared.names,
        origins=settings.allow_origin,
        log=log,
    )
    logger = logging.getLogger("uvicorn")
    logger.handlers, logger.propagate = [Forwarding(log)], False
    config = uvicorn.Config(
        app,
        http=connection_class(limits.connections, limits.idle_time),
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=max(1, round(limits.idle_time)),
        timeout_graceful_shutdown=round(limits.drain_time),
        ws="none",
    )

    class Announced(uvicorn.Server):
        """Says so as soon as it can be asked, and can be told to stop."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            announce()

    return Announced(config)


def run(prepared: PreparedServer, announce: Callable[[], None]) -> None:
    """Answer until told to stop; then finish what was accepted."""
    server = make_server(prepared, announce)
    warnings.filterwarnings("ignore", category=MalmoiWarning)  # counted, and told the client
    sys.setswitchinterval(SWITCH)
    gc.collect()
    gc.freeze()  # what is here now stays: looking through it again would hold up requests
    with suppress(KeyboardInterrupt), hanging_up(server):  # uvicorn raises it when all is done
        server.run(sockets=[prepared.listening])


@contextmanager
def hanging_up(server: "uvicorn.Server") -> Iterator[None]:
    """A terminal that closes ends a server as SIGTERM does, unless nohup has it ignored."""
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is None or signal.getsignal(hangup) is signal.SIG_IGN:
        yield
        return
    before = signal.signal(hangup, server.handle_exit)
    try:
        yield
    finally:
        signal.signal(hangup, before)
