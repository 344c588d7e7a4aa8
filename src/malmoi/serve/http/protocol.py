"""The HTTP protocol of a connection: uvicorn's, with deadlines and limits on its framing."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEADER_BYTES = 65_536  # request line and headers
MAX_FRAMING_BYTES = 1_000_000  # chunk sizes, extensions and trailers of one body
SMALL_CHUNK_BYTES, MAX_SMALL_CHUNKS = 64, 10_000
MAX_PIPELINED_REQUESTS = 16  # behind one that is not answered yet
MIN_READ_SPEED = 1000  # bytes per second: the server drops clients that read more slowly


def error_response(status: str, code: str, message: str) -> bytes:
    """A complete answer that closes the connection."""
    number = status.partition(" ")[0]
    body = f'{{"error":{{"status":{number},"code":"{code}","message":"{message}"}}}}'
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n"
    head += "retry-after: 1\r\n" if number == "503" else ""
    return f"{head}content-length: {len(body)}\r\n\r\n{body}".encode()


OVERLOADED = error_response("503 Service Unavailable", "overloaded", "try again soon")
INVALID_HTTP = error_response("400 Bad Request", "invalid_http", "the request is not HTTP/1.1")
HEADERS_TOO_LARGE = error_response(
    "431 Request Header Fields Too Large",
    "headers_too_large",
    f"the headers are larger than {MAX_HEADER_BYTES:,} bytes",
)


class Connection(HttpToolsProtocol):
    """A connection with a deadline for each request to begin and for each answer to be read."""

    max_connections, idle_timeout = 1000, 30.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a client, or answer 503 if there are too many."""
        super().connection_made(transport)
        self._request_deadline: asyncio.TimerHandle | None = None
        self._read_deadline: asyncio.TimerHandle | None = None
        self._in_headers = False
        self._framing_bytes = 0  # of a request, outside its body
        self._body_bytes = 0  # in the data that came last
        self._num_small_chunks = 0  # of one body
        self._unread_bytes = 0  # of answers, at the last check
        if len(self.connections) > self.max_connections:
            transport.write(OVERLOADED)
            transport.close()
            return
        self._start_request_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadlines of a client that disconnected."""
        self._cancel_request_deadline()
        self._cancel_read_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data; data that is not a request does not extend the deadline."""
        if self.transport.is_closing():
            return
        self._body_bytes = 0
        super().data_received(data)
        self._framing_bytes += len(data) - self._body_bytes
        has_deadline = self._request_deadline is not None
        if self._in_headers and self._framing_bytes > MAX_HEADER_BYTES:
            self._close_with(HEADERS_TOO_LARGE)
        elif self._framing_bytes > MAX_HEADER_BYTES + MAX_FRAMING_BYTES:
            self._close_with(INVALID_HTTP)
        elif self._is_idle() and not has_deadline and self.timeout_keep_alive_task is None:
            self._start_request_deadline()

    def on_message_begin(self) -> None:
        """Start the deadline of a request's headers."""
        if len(self.pipeline) >= MAX_PIPELINED_REQUESTS:
            raise ValueError("too many pipelined requests")  # closes the connection
        super().on_message_begin()
        self._in_headers, self._framing_bytes, self._num_small_chunks = True, 0, 0
        if self._request_deadline is None:
            self._start_request_deadline()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; trailers after a chunked body are ignored (RFC 9110, 6.5.1)."""
        if self._in_headers:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start the request; its body has a deadline of its own."""
        self._in_headers = False
        self._cancel_request_deadline()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a chunk of a body; each costs time, however small it is."""
        self._body_bytes += len(body)
        self._num_small_chunks += len(body) < SMALL_CHUNK_BYTES
        if self._num_small_chunks > MAX_SMALL_CHUNKS:
            raise ValueError("too many small chunks")  # closes the connection
        super().on_body(body)

    def send_400_response(self, msg: str) -> None:
        """Answer data that is not HTTP, unless another answer is being sent."""
        self._close_with(INVALID_HTTP)

    def pause_writing(self) -> None:
        """Backpressure: start the deadline of a client that reads more slowly than we send."""
        super().pause_writing()
        self._unread_bytes = self.transport.get_write_buffer_size()
        if self._read_deadline is None and not self._is_idle():
            self._read_deadline = self.loop.call_later(self.idle_timeout, self._check_read_speed)

    def resume_writing(self) -> None:
        """Cancel the deadline: the client has read what was sent."""
        super().resume_writing()
        self._cancel_read_deadline()

    def on_response_complete(self) -> None:
        """Start the deadline for the rest of a request that was answered early."""
        super().on_response_complete()
        self._cancel_read_deadline()
        self._unread_bytes = self.transport.get_write_buffer_size()
        if self.transport.is_closing():
            self._restart_keep_alive()
        elif self.cycle.more_body:
            self._cancel_request_deadline()
            self._start_request_deadline()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; drop a client that has not read its answer."""
        unread = self.transport.get_write_buffer_size()
        if not unread:
            super().timeout_keep_alive_handler()
        elif self._is_reading_too_slowly(unread):
            self.transport.abort()
        else:
            self._unread_bytes = unread
            self._restart_keep_alive()

    def _check_read_speed(self) -> None:
        """Drop the client if it has read too little since the last check."""
        self._read_deadline = None
        unread = self.transport.get_write_buffer_size()
        if self._is_reading_too_slowly(unread):
            self.transport.abort()
        else:
            self._unread_bytes = unread
            self._read_deadline = self.loop.call_later(self.idle_timeout, self._check_read_speed)

    def _is_reading_too_slowly(self, unread: int) -> bool:
        return self._unread_bytes - unread < MIN_READ_SPEED * self.idle_timeout

    def _cancel_read_deadline(self) -> None:
        if self._read_deadline is not None:
            self._read_deadline.cancel()
            self._read_deadline = None

    def _close_with(self, response: bytes) -> None:
        """Close the connection with an answer, unless another answer is being sent."""
        if self.pipeline or (not self._is_idle() and self.cycle.response_started):
            self.transport.abort()
            return
        self.transport.write(response)
        self.transport.close()

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _restart_keep_alive(self) -> None:
        handler = self.timeout_keep_alive_handler
        self.timeout_keep_alive_task = self.loop.call_later(self.idle_timeout, handler)

    def _start_request_deadline(self) -> None:
        self._request_deadline = self.loop.call_later(self.idle_timeout, self._on_deadline)

    def _cancel_request_deadline(self) -> None:
        if self._request_deadline is not None:
            self._request_deadline.cancel()
            self._request_deadline = None

    def _on_deadline(self) -> None:
        self._request_deadline = None
        self.transport.abort()


def connection_class(max_connections: int, idle_timeout: float) -> type[asyncio.Protocol]:
    """The protocol class with these limits."""
    limits: dict[str, Any] = {"max_connections": max_connections, "idle_timeout": idle_timeout}
    return type("LimitedConnection", (Connection,), limits)
