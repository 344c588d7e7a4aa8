"""Connections that do not wait for ever: for a request to begin, or for an answer to be read."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\n"
    b"content-type: application/json\r\ncontent-length: 69\r\n\r\n"
    b'{"error":{"status":503,"code":"overloaded","message":"try again soon"}}'
)


class Connection(HttpToolsProtocol):
    """uvicorn's, with a time limit before the first request and while an answer is sent."""

    most, patience = 1000, 30.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has come."""
        super().connection_made(transport)
        self._deadline: asyncio.TimerHandle | None = None
        if len(self.connections) > self.most:
            transport.write(FULL)
            transport.close()
            return
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Somebody has left."""
        self._begin()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """The first bytes of a request: its headers may not take long either."""
        super().on_message_begin()
        if self._deadline is None:
            self._await_request()

    def on_headers_complete(self) -> None:
        """A request is there; its body has a time limit of its own."""
        self._begin()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """An answer is sent; if it came before the end of the request, that may not take long."""
        super().on_response_complete()
        if self.cycle.more_body and not self.transport.is_closing():
            self._begin()
            self._await_request()

    def timeout_keep_alive_handler(self) -> None:
        """Nothing came for a while: whoever has not read an answer by now never will."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        super().timeout_keep_alive_handler()

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
