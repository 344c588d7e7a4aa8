"""A server that runs beside the test, and plain HTTP to ask it."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from malmoi.serve.http.auth import NO_KEYS, read_api_keys
from malmoi.serve.http.middleware import Tracing
from malmoi.serve.server import PreparedServer, ServerSettings, listen, make_server
from malmoi.serve.service.loaded_models import Models


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Running:
    """Where it is; `get` and `post` ask it, each over a connection of its own."""

    address: str

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 0

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, None, headers)

    def post(self, path: str, asked: Any, **headers: str) -> Answer:
        body = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
        return self.ask("POST", path, body, headers)

    def ask(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            found = connection.getresponse()
            received = {name.lower(): value for name, value in found.getheaders()}
            return Answer(found.status, received, found.read())
        finally:
            connection.close()


@contextmanager
def serving(
    models: Models, settings: ServerSettings | None = None, tracing: Tracing | None = None
) -> Iterator[Running]:
    """A server in a thread, told to stop at the end."""
    settings = settings or ServerSettings(port=0, quiet=True)
    keys = read_api_keys(settings.api_key_file) if settings.api_key_file else NO_KEYS
    prepared = PreparedServer(models, listen("127.0.0.1", 0), settings, keys, tracing)
    server = make_server(prepared, lambda: None)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [prepared.listening]})
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        yield Running(prepared.address)
    finally:
        server.should_exit = True
        thread.join()
