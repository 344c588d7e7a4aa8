"""Middleware around all endpoints: request ids, admission, authentication, metrics and the log."""

import re
import traceback
from collections.abc import Mapping
from time import perf_counter
from typing import Protocol
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from malmoi.serve.http.api_errors import ApiError, Dialect, default_dialect, error_body
from malmoi.serve.http.auth import Access, host_name
from malmoi.serve.http.endpoint import JSON, Endpoint
from malmoi.serve.http.response import dump_json, send_response
from malmoi.serve.logs import Log
from malmoi.serve.metrics import Metrics
from malmoi.serve.service.errors import ClientDisconnectedError
from malmoi.serve.service.request_context import RequestContext, RequestTrace

REQUEST_ID = re.compile(rb"[\w.-]{1,64}", re.ASCII)
BASIC_CHALLENGE = 'Basic realm="malmoi", charset="UTF-8"'  # browsers prompt for a password
CLIENT_CLOSED_REQUEST = 499  # nginx's status, in the log and the metrics alone


class Tracing(Protocol):
    """Traces requests; see `malmoi.serve.traces`."""

    def start(self, scope: Scope, headers: Mapping[bytes, bytes]) -> RequestTrace:
        """Start the span of a request."""

    def close(self) -> None:
        """Export what is left."""


class GatewayMiddleware:
    """An ASGI application around another; requests to `direct` paths bypass its router."""

    def __init__(
        self,
        app: ASGIApp,
        endpoints: tuple[Endpoint, ...],
        *,
        direct: Mapping[tuple[str, str], ASGIApp],
        max_connections: int,
        access: Access,
        metrics: Metrics,
        log: Log,
        tracing: Tracing | None = None,
    ) -> None:
        self._app, self._metrics, self._log, self._tracing = app, metrics, log, tracing
        self._access, self._direct = access, direct
        self._public = {endpoint.path for endpoint in endpoints if endpoint.public}
        self._dialects = {endpoint.path: endpoint.dialect for endpoint in endpoints}
        self._max_connections, self._num_active = max_connections, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; a fault is logged and answered with 500."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status, headers = perf_counter(), 0, dict(scope["headers"])
        request_id = request_id_of(headers.get(b"x-request-id", b""))
        context = RequestContext(request_id, scope["path"], scope.get("client"), receive)
        scope.setdefault("state", {})["context"] = context
        if self._tracing is not None:
            context.trace = self._tracing.start(scope, headers)
        id_header = (b"x-request-id", context.request_id.encode())

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), id_header]
            await send(message)

        self._num_active += 1
        try:
            rejection = self._rejection(scope, headers)
            if rejection is not None:
                await self._send_error(scope, send_with_id, rejection)
            else:
                app = self._direct.get((scope["path"], scope["method"]), self._app)
                await app(scope, receive, send_with_id)
        except ClientDisconnectedError:
            status = CLIENT_CLOSED_REQUEST
            self._metrics.client_disconnected()
        except Exception as error:
            self._log_fault(context, error)
            if status == 0:
                fault = ApiError(500, "internal error: see the server's log", code="fault")
                await self._send_error(scope, send_with_id, fault)
        finally:
            self._num_active -= 1
            self._record(scope, context, status, perf_counter() - start)

    def _rejection(self, scope: Scope, headers: dict[bytes, bytes]) -> ApiError | None:
        if self._num_active > self._max_connections:
            retry = {"retry-after": "1"}
            return ApiError(503, "too many requests: try again", code="overloaded", headers=retry)
        host = headers.get(b"host", b"")
        if self._access.hosts is not None and not self._access.hosts.allows(host):
            name = host_name(host)
            return ApiError(
                421,
                f"this server does not accept the host name {name}: start it with"
                f" --allow-host {name}",
                code="wrong_host",
            )
        authorization = headers.get(b"authorization", b"")
        if scope["path"] in self._public or self._access.keys.allows(authorization):
            return None
        return ApiError(
            401,
            "the API key is missing or wrong: send the header Authorization: Bearer KEY",
            code="invalid_api_key",
            headers={"www-authenticate": BASIC_CHALLENGE if scope["path"] == "/" else "Bearer"},
        )

    async def _send_error(self, scope: Scope, send: Send, error: ApiError) -> None:
        dialect: Dialect = self._dialects.get(scope["path"], default_dialect(scope["path"]))
        body = dump_json(error_body(error, dialect))
        await send_response(send, error.status, [body], JSON, error.headers)

    def _record(self, scope: Scope, context: RequestContext, status: int, seconds: float) -> None:
        path = scope["path"] if scope["path"] in self._dialects else "other"
        self._metrics.request_done(context, path, status, seconds)
        self._log(
            "request",
            id=context.request_id,
            method=scope["method"],
            path=path,
            status=status,
            seconds=round(seconds, 6),
            model=context.model_name or None,
            texts=context.num_texts,
            tokens=context.num_tokens,
            truncated=len(context.reporter.truncated),
            fragmented=len(context.reporter.fragmented),
            zero_vectors=context.reporter.zero_vectors,
        )
        if context.trace is not None:
            context.trace.end(context, context.route or ("" if path == "other" else path), status)

    def _log_fault(self, context: RequestContext, error: Exception) -> None:
        """Log where an error was raised, without its message, which may quote a text."""
        frames = traceback.extract_tb(error.__traceback__)[-4:]
        trace = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        self._log("fault", id=context.request_id, error=type(error).__name__, trace=trace)


def request_id_of(header: bytes) -> str:
    """The client's id of a request if it is valid, or else a new one."""
    return header.decode() if REQUEST_ID.fullmatch(header) else uuid4().hex
