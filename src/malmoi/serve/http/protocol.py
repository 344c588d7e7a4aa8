"""Connections that do not wait for ever: for a request to begin, or for an answer to be read."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST_HEAD = 65_536  # bytes of a request's first line and headers
LONGEST_FRAMING = 1_000_000  # bytes of a body that are none of it: sizes of chunks, trailers
SMALL_CHUNK, SMALL_CHUNKS = 64, 10_000  # bytes; how many of a body may be so small
PIPELINED = 16  # requests that may follow one that is not answered yet
SLOWEST = 1000  # bytes a second: who reads an answer more slowly is left


def refusal(status: str, code: str, message: str) -> bytes:
    """All of an answer that ends a connection."""
    number = status.partition(" ")[0]
    body = f'{{"error":{{"status":{number},"code":"{code}","message":"{message}"}}}}'
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n"
    head += "retry-after: 1\r\n" if number == "503" else ""
    return f"{head}content-length: {len(body)}\r\n\r\n{body}".encode()


FULL = refusal("503 Service Unavailable", "overloaded", "try again soon")
BAD = refusal("400 Bad Request", "invalid_http", "the request is not HTTP/1.1")
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
        self._reading: asyncio.TimerHandle | None = None
        self._in_head = False
        self._framing = 0  # bytes of a request that are not of its body
        self._bodies = 0  # those of bodies, of the last that came
        self._small = 0  # bits of a body that are very small
        self._unread = 0  # bytes of answers that were not read when last looked at
        if len(self.connections) > self.most:
            transport.write(FULL)
            transport.close()
            return
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Somebody has left."""
        self._begin()
        self._stop_looking()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Some bytes; those that are no request do not keep a connection."""
        if self.transport.is_closing():
            return
        self._bodies = 0
        super().data_received(data)
        self._framing += len(data) - self._bodies
        if self._in_head and self._framing > LONGEST_HEAD:
            self._end(LONG)
        elif self._framing > LONGEST_HEAD + LONGEST_FRAMING:
            self._end(BAD)
        elif self._is_idle() and self._deadline is None and self.timeout_keep_alive_task is None:
            self._await_request()

    def on_message_begin(self) -> None:
        """The first bytes of a request: its headers may not take long either."""
        if len(self.pipeline) >= PIPELINED:
            raise ValueError("too many requests at once")  # ends the connection
        super().on_message_begin()
        self._in_head, self._framing, self._small = True, 0, 0
        if self._deadline is None:
            self._await_request()

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header; trailers, which follow a body in chunks, are left out (RFC 9110, 6.5.1)."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """A request is there; its body has a time limit of its own."""
        self._in_head = False
        self._begin()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Some of a body; each bit takes time, however small it is."""
        self._bodies += len(body)
        self._small += len(body) < SMALL_CHUNK
        if self._small > SMALL_CHUNKS:
            raise ValueError("too many small chunks")  # ends the connection
        super().on_body(body)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, unless that would stand in the middle of an answer."""
        self._end(BAD)

    def pause_writing(self) -> None:
        """An answer is not read as fast as it is sent."""
        super().pause_writing()
        self._unread = self.transport.get_write_buffer_size()
        if self._reading is None and not self._is_idle():
            self._reading = self.loop.call_later(self.patience, self._look_at_reader)

    def resume_writing(self) -> None:
        """What was sent is read."""
        super().resume_writing()
        self._stop_looking()

    def on_response_complete(self) -> None:
        """An answer is sent; if it came before the end of the request, that may not take long."""
        super().on_response_complete()
        self._stop_looking()
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

    def _look_at_reader(self) -> None:
        """Leave whoever has read next to nothing of an answer for a while."""
        self._reading = None
        unread = self.transport.get_write_buffer_size()
        if self._unread - unread < SLOWEST * self.patience:
            self.transport.abort()
        else:
            self._unread = unread
            self._reading = self.loop.call_later(self.patience, self._look_at_reader)

    def _stop_looking(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _end(self, answer: bytes) -> None:
        """End a connection with an answer, unless another one is under way."""
        if self.pipeline or (not self._is_idle() and self.cycle.response_started):
            self.transport.abort()
            return
        self.transport.write(answer)
        self.transport.close()

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
