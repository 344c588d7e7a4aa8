"""What every request passes first: a name, a key, a place; and last: counted and written down."""

import re
import traceback
from collections.abc import Mapping
from time import perf_counter
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from malmoi.serve.http.api_errors import ApiError, Dialect, dialect_of, refusal_body
from malmoi.serve.http.auth import AllowedHosts, ApiKeys, name_in
from malmoi.serve.http.endpoint import JSON, Endpoint
from malmoi.serve.http.response import as_json, respond
from malmoi.serve.logs import Log
from malmoi.serve.service.service import ClientDisconnected, RequestContext, Service

IDENTITY = re.compile(rb"[\w.-]{1,64}", re.ASCII)
PAGE = 'Basic realm="malmoi", charset="UTF-8"'  # a browser asks for a name and a password
LEFT = 499  # the client has left, in the log and the counts alone


class GatewayMiddleware:
    """An ASGI application around another one; the router is not asked about `direct` paths."""

    def __init__(
        self,
        app: ASGIApp,
        service: Service,
        endpoints: tuple[Endpoint, ...],
        *,
        direct: Mapping[tuple[str, str], ASGIApp],
        keys: ApiKeys,
        names: AllowedHosts | None,
        log: Log,
    ) -> None:
        self._app, self._service, self._log = app, service, log
        self._keys, self._names, self._direct = keys, names, direct
        self._free = {endpoint.path for endpoint in endpoints if endpoint.free}
        self._dialects = {endpoint.path: endpoint.dialect for endpoint in endpoints}
        self._present = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, whatever happens."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status, headers = perf_counter(), 0, dict(scope["headers"])
        identity = identity_of(headers.get(b"x-request-id", b""))
        visit = RequestContext(identity, scope["path"], scope.get("client"), receive)
        scope.setdefault("state", {})["visit"] = visit
        named = (b"x-request-id", visit.identity.encode())

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), named]
            await send(message)

        self._present += 1
        try:
            refused = self._refusal(scope, headers)
            if refused is not None:
                await self._refuse(scope, sending, refused)
            else:
                direct = self._direct.get((scope["path"], scope["method"]), self._app)
                await direct(scope, receive, sending)
        except ClientDisconnected:
            status = LEFT
            self._service.measures.left += 1
        except Exception as error:
            self._note_fault(visit, error)
            if status == 0:
                fault = ApiError(500, "the server failed; its log says where", code="fault")
                await self._refuse(scope, sending, fault)
        finally:
            self._present -= 1
            self._note(scope, visit, status, perf_counter() - begun)

    def _refusal(self, scope: Scope, headers: dict[bytes, bytes]) -> ApiError | None:
        if self._present > self._service.limits.connections:
            retry = {"retry-after": "1"}
            return ApiError(503, "too many are asking: try again", code="overloaded", headers=retry)
        host = headers.get(b"host", b"")
        if self._names is not None and not self._names.admit(host):
            name = name_in(host)
            return ApiError(
                421,
                f"this server does not answer as {name}: start it with --allow-host {name}",
                code="wrong_host",
            )
        if scope["path"] in self._free or self._keys.admit(headers.get(b"authorization", b"")):
            return None
        return ApiError(
            401,
            "no key, or a wrong one: send the header Authorization: Bearer KEY",
            code="invalid_api_key",
            headers={"www-authenticate": PAGE if scope["path"] == "/" else "Bearer"},
        )

    async def _refuse(self, scope: Scope, send: Send, refused: ApiError) -> None:
        dialect: Dialect = self._dialects.get(scope["path"], dialect_of(scope["path"]))
        body = as_json(refusal_body(refused, dialect))
        await respond(send, refused.status, [body], JSON, refused.headers)

    def _note(self, scope: Scope, visit: RequestContext, status: int, seconds: float) -> None:
        measures, known = self._service.measures, scope["path"] in self._dialects
        path = scope["path"] if known else "other"
        measures.request_done(path, status, seconds)
        if visit.texts:
            measures.texts[visit.model] += visit.texts
            measures.tokens[visit.model] += visit.tokens
            measures.truncated[visit.model] += visit.truncated
            measures.zeros[visit.model] += visit.zeros
        self._log(
            "request",
            id=visit.identity,
            method=scope["method"],
            path=path,
            status=status,
            seconds=round(seconds, 6),
            model=visit.model or None,
            texts=visit.texts,
            tokens=visit.tokens,
            truncated=visit.truncated,
            zeros=visit.zeros,
        )

    def _note_fault(self, visit: RequestContext, error: Exception) -> None:
        """Where it happened, without what was said: messages may quote a text."""
        frames = traceback.extract_tb(error.__traceback__)
        places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-4:]]
        self._log("fault", id=visit.identity, error=type(error).__name__, places=places)


def identity_of(given: bytes) -> str:
    """What a request is called: what the client says, if that is a name, or something new."""
    return given.decode() if IDENTITY.fullmatch(given) else uuid4().hex
