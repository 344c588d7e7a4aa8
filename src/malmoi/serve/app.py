"""The server as an ASGI application, made of endpoints."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from malmoi.serve.http.api_errors import ApiError, dialect_of, refusal_body
from malmoi.serve.http.auth import ANYBODY, AllowedHosts, ApiKeys
from malmoi.serve.http.endpoint import JSON, EndpointApp
from malmoi.serve.http.middleware import GatewayMiddleware
from malmoi.serve.logs import Log
from malmoi.serve.routes import ENDPOINTS
from malmoi.serve.service.service import Service


def make_app(
    service: Service,
    *,
    keys: ApiKeys = ANYBODY,
    names: AllowedHosts | None = None,
    origins: Sequence[str] = (),
    log: Log | None = None,
) -> ASGIApp:
    """An application that answers for the models of a service; without `names`, under any."""

    paths: dict[str, dict[str, EndpointApp]] = {}
    for one in ENDPOINTS:
        paths.setdefault(one.path, {})[one.method] = EndpointApp(one, service)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        service.open()
        yield
        await service.close()

    routes = [Route(path, ByMethod(each), methods=list(each)) for path, each in paths.items()]
    direct = {(p, m): one for p, each in paths.items() for m, one in each.items() if "{" not in p}
    app = Starlette(routes=routes, lifespan=life, exception_handlers={HTTPException: not_there})
    app.router.redirect_slashes = False
    guarded: ASGIApp = GatewayMiddleware(
        app, service, ENDPOINTS, direct=direct, keys=keys, names=names, log=log or Log(None)
    )
    if not origins:
        return guarded
    return CORSMiddleware(
        guarded,
        allow_origins=list(origins),
        allow_methods=["GET", "POST"],
        allow_headers=["*"],  # OpenAI's client for browsers sends a dozen of its own
        expose_headers=[
            "x-request-id",
            "x-truncated-texts",
            "x-fragmented-texts",
            "x-zero-vectors",
            "retry-after",
        ],
    )


@dataclass(frozen=True, eq=False)
class ByMethod:
    """All that is answered at one path."""

    methods: Mapping[str, EndpointApp]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; what GET answers, HEAD does too, and the server leaves out the body."""
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        await self.methods[method](scope, receive, send)


async def not_there(request: Request, error: Exception) -> Response:
    """A path or method that nobody answers."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    sentence = "there is nothing at this path: see /docs"
    if status == 405:
        sentence = f"{request.method} is not answered at this path: see /docs"
    code = "wrong_method" if status == 405 else "not_found"
    refused = ApiError(status, sentence, code=code)
    body = orjson.dumps(refusal_body(refused, dialect_of(request.url.path)))
    return Response(body, status, headers, JSON)
