"""The connections of a client: one per thread, kept open, reconnected once, retried on overload.

Knows nothing of texts or vectors.
"""

import http.client
import json
import math
import threading
import time
from typing import Any, NamedTuple

from malmoi.client.answers import InvalidAnswerError, error_message, retry_seconds
from malmoi.errors import MalmoiError

OVERLOADED = 503
READ_BYTES = 1 << 20  # of an answer at a time
MAX_ANSWER_BYTES = 1 << 30


class ServerError(MalmoiError, ValueError):
    """The server rejected the request, or sent an invalid answer; `status` is that of HTTP."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class ServerUnreachableError(MalmoiError, ConnectionError):
    """No server answers at the address, or the connection was lost."""


class ServerTimeoutError(ServerUnreachableError, TimeoutError):
    """The server did not answer within the `timeout` of the client."""


class RawAnswer(NamedTuple):
    """Status, headers (names in lower case) and body of an answer."""

    status: int
    headers: dict[str, str]
    body: bytes


class JsonAnswer(NamedTuple):
    """The JSON object and the headers (names in lower case) of an answer."""

    body: dict[str, Any]
    headers: dict[str, str]


class ServerConnection:
    """Sends requests to one server; `timeout` is in milliseconds, and -1 waits forever."""

    def __init__(self, ip: str, port: int, timeout: int, api_key: str | None) -> None:
        self.ip, self.port, self.timeout, self._api_key = ip, port, timeout, api_key
        self._local, self._lock = threading.local(), threading.Lock()
        self._open: list[http.client.HTTPConnection] = []  # of all threads

    def __str__(self) -> str:
        return f"the server at {self.ip}:{self.port}"

    def request(self, method: str, path: str, payload: Any = None) -> JsonAnswer:
        """Send a request and parse its answer; while the server is overloaded, send it again.

        Raises:
            ServerError: The server rejected the request, or its answer is not a JSON object.
            ServerTimeoutError: There was no answer within the timeout.
            ServerUnreachableError: The server cannot be reached.
        """
        body = None if payload is None else json.dumps(payload).encode()
        deadline = time.monotonic() + self.timeout / 1000 if self.timeout >= 0 else math.inf
        while True:
            status, headers, content = self._send(method, path, body)
            if status != OVERLOADED:
                break
            pause = retry_seconds(headers.get("retry-after", ""))
            if time.monotonic() + pause > deadline:
                raise ServerTimeoutError(f"{self} is overloaded: no answer in {self.timeout} ms")
            time.sleep(pause)
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise self.invalid_answer("no JSON", status) from error
        if status != 200:
            raise ServerError(
                status, f"the server rejected the request: {error_message(answer, status)}"
            )
        if not isinstance(answer, dict):
            raise self.invalid_answer("no JSON object")
        return JsonAnswer(answer, headers)

    def invalid_answer(self, problem: str | InvalidAnswerError, status: int = 200) -> ServerError:
        """The error for an answer that is not one of `malmoi serve`."""
        return ServerError(
            status, f"{self} answers {status} with {problem}: is it a malmoi server?"
        )

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            for connection in self._open:
                connection.close()

    def _send(self, method: str, path: str, body: bytes | None) -> RawAnswer:
        """Send a request; once more if the server has closed a connection that was kept open."""
        is_kept = getattr(self._local, "connection", None) is not None
        try:
            return self._send_once(method, path, body)
        except ServerTimeoutError:
            raise
        except ServerUnreachableError:
            if not is_kept:
                raise
        return self._send_once(method, path, body)

    def _send_once(self, method: str, path: str, body: bytes | None) -> RawAnswer:
        headers = {"content-type": "application/json"}
        if self._api_key is not None:
            headers["authorization"] = f"Bearer {self._api_key}"
        try:
            connection = self._connect()
            connection.request(method, path, body, headers)
            with connection.getresponse() as response:
                received = {name.lower(): value for name, value in response.getheaders()}
                return RawAnswer(response.status, received, self._read(response))
        except TimeoutError as error:
            self._disconnect()
            raise ServerTimeoutError(f"no answer in {self.timeout} ms from {self}") from error
        except (OSError, http.client.HTTPException) as error:
            self._disconnect()
            raise ServerUnreachableError(f"{self} does not answer: {error}") from error

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        parts, size = list[bytes](), 0
        while part := response.read(READ_BYTES):
            parts.append(part)
            size += len(part)
            if size > MAX_ANSWER_BYTES:
                self._disconnect()
                raise self.invalid_answer(f"more than {MAX_ANSWER_BYTES:,} bytes", response.status)
        if response.length:  # bytes that were announced and did not come
            raise http.client.IncompleteRead(b"", response.length)
        return b"".join(parts)

    def _connect(self) -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            seconds = None if self.timeout < 0 else self.timeout / 1000
            connection = http.client.HTTPConnection(self.ip, self.port, timeout=seconds)
            self._local.connection = connection
            with self._lock:
                self._open.append(connection)
        return connection

    def _disconnect(self) -> None:
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None
            with self._lock:
                self._open.remove(connection)
