"""The server as an ASGI application, made of endpoints."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from malmoi.serve.access import Keys
from malmoi.serve.endpoints import JSON, Answering
from malmoi.serve.guard import Guard
from malmoi.serve.logs import Log
from malmoi.serve.refusing import Dialect, Refused, refusal_body
from malmoi.serve.routes import ENDPOINTS
from malmoi.serve.service import Service

ANYBODY = Keys()


def make_app(
    service: Service,
    *,
    keys: Keys = ANYBODY,
    origins: Sequence[str] = (),
    log: Log | None = None,
) -> ASGIApp:
    """An application that answers for the models of a service."""

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        service.open()
        yield
        await service.close()

    routes = [Route(one.path, Answering(one, service), methods=[one.method]) for one in ENDPOINTS]
    app = Starlette(routes=routes, lifespan=life, exception_handlers={HTTPException: not_there})
    app.router.redirect_slashes = False
    guarded: ASGIApp = Guard(app, service, ENDPOINTS, keys=keys, log=log or Log(None))
    if not origins:
        return guarded
    return CORSMiddleware(
        guarded,
        allow_origins=list(origins),
        allow_methods=["GET", "POST"],
        allow_headers=["authorization", "content-type", "x-request-id"],
        expose_headers=["x-request-id", "x-truncated-texts", "retry-after"],
    )


async def not_there(request: Request, error: Exception) -> Response:
    """A path or method that nobody answers."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    sentence = "there is nothing at this path: see /docs"
    if status == 405:
        sentence = f"{request.method} is not answered at this path: see /docs"
    code = "wrong_method" if status == 405 else "not_found"
    dialect: Dialect = "openai" if request.url.path.startswith("/v1/") else "malmoi"
    body = orjson.dumps(refusal_body(Refused(status, sentence, code=code), dialect))
    return Response(body, status, headers, JSON)
