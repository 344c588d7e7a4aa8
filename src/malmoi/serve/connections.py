"""Connections that do not wait for ever: for a request to begin, or for an answer to be read."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST_HEAD = 65_536  # bytes of a request's first line and headers
SLOWEST = 1000  # bytes a second: who reads an answer more slowly is left


def refusal(status: str, code: str, message: str) -> bytes:
    """All of an answer that ends a connection."""
    number = status.partition(" ")[0]
    body = f'{{"error":{{"status":{number},"code":"{code}","message":"{message}"}}}}'
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n"
    head += "retry-after: 1\r\n" if number == "503" else ""
    return f"{head}content-length: {len(body)}\r\n\r\n{body}".encode()


FULL = refusal("503 Service Unavailable", "overloaded", "try again soon")
LONG = refusal(
    "431 Request Header Fields Too Large",
    "headers_too_large",
    f"the headers are larger than {LONGEST_HEAD:,} bytes",
)


class Connection(HttpToolsProtocol):
    """uvicorn's, with limits before a request is there and while an answer is sent."""

    most, patience = 1000, 30.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has come."""
        super().connection_made(transport)
        self._deadline: asyncio.TimerHandle | None = None
        self._head: int | None = None  # bytes of a head that has no end yet
        self._unread = 0  # bytes of answers that were not read when last looked at
        if len(self.connections) > self.most:
            transport.write(FULL)
            transport.close()
            return
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Somebody has left."""
        self._begin()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Some bytes; those that are no request do not keep a connection."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self._head is not None:
            self._head += len(data)
            if self._head > LONGEST_HEAD:
                self.transport.write(LONG)
                self.transport.close()
        elif self._is_idle() and self._deadline is None and self.timeout_keep_alive_task is None:
            self._await_request()

    def on_message_begin(self) -> None:
        """The first bytes of a request: its headers may not take long either."""
        super().on_message_begin()
        self._head = 0
        if self._deadline is None:
            self._await_request()

    def on_headers_complete(self) -> None:
        """A request is there; its body has a time limit of its own."""
        self._head = None
        self._begin()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """An answer is sent; if it came before the end of the request, that may not take long."""
        super().on_response_complete()
        self._unread = self.transport.get_write_buffer_size()
        if self.transport.is_closing():
            self._await_reader()
        elif self.cycle.more_body:
            self._begin()
            self._await_request()

    def timeout_keep_alive_handler(self) -> None:
        """Nothing came for a while: whoever has read next to nothing of an answer never will."""
        unread = self.transport.get_write_buffer_size()
        if not unread:
            super().timeout_keep_alive_handler()
        elif self._unread - unread < SLOWEST * self.patience:
            self.transport.abort()
        else:
            self._unread = unread
            self._await_reader()

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _await_reader(self) -> None:
        look = self.timeout_keep_alive_handler
        self.timeout_keep_alive_task = self.loop.call_later(self.patience, look)

    def _await_request(self) -> None:
        self._deadline = self.loop.call_later(self.patience, self._give_up)

    def _begin(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        self.transport.abort()


def connection_class(most: int, patience: float) -> type[asyncio.Protocol]:
    """Connections with these limits."""
    limits: dict[str, Any] = {"most": most, "patience": patience}
    return type("LimitedConnection", (Connection,), limits)
