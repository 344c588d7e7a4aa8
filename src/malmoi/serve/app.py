"""The server as an ASGI application, made of the endpoints."""

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

from malmoi.serve.http.api_errors import ApiError, default_dialect, error_body
from malmoi.serve.http.auth import Access
from malmoi.serve.http.endpoint import JSON, EndpointApp
from malmoi.serve.http.middleware import GatewayMiddleware, Tracing
from malmoi.serve.logs import Log
from malmoi.serve.metrics import Metrics
from malmoi.serve.routes import ENDPOINTS
from malmoi.serve.service.service import Service

NOT_FOUND = "nothing is served at this path: see /docs"


def make_app(
    service: Service,
    metrics: Metrics,
    *,
    access: Access | None = None,
    origins: Sequence[str] = (),
    log: Log | None = None,
    tracing: Tracing | None = None,
) -> ASGIApp:
    """The application that serves the models of a service; pages of `origins` may use it."""

    paths: dict[str, dict[str, EndpointApp]] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(endpoint.path, {})[endpoint.method] = EndpointApp(endpoint, service)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        service.open()
        yield
        await service.close()

    routes = [Route(path, MethodRouter(apps), methods=list(apps)) for path, apps in paths.items()]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: not_found})
    app.router.redirect_slashes = False
    gateway: ASGIApp = GatewayMiddleware(
        app,
        ENDPOINTS,
        direct={
            (p, m): one for p, apps in paths.items() for m, one in apps.items() if "{" not in p
        },
        max_connections=service.limits.max_connections,
        access=access or Access(),
        metrics=metrics,
        log=log or Log(None),
        tracing=tracing,
    )
    if not origins:
        return gateway
    return CORSMiddleware(
        gateway,
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
class MethodRouter:
    """The endpoints of one path, by method."""

    apps: Mapping[str, EndpointApp]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; HEAD is answered like GET, and uvicorn leaves out the body."""
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        await self.apps[method](scope, receive, send)


async def not_found(request: Request, error: Exception) -> Response:
    """The answer to an unknown path or method."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    if status == 405:
        sentence = f"{request.method} is not allowed at this path: see /docs"
        api_error = ApiError(status, sentence, code="wrong_method")
    else:
        api_error = ApiError(status, NOT_FOUND, code="not_found")
    body = orjson.dumps(error_body(api_error, default_dialect(request.url.path)))
    return Response(body, status, headers, JSON)
