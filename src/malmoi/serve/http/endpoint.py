"""An endpoint: what it is asked, what it answers, and the way of one request through it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import msgspec
from starlette.types import Receive, Scope, Send

from malmoi.serve.http.api_errors import Dialect, as_refusal, refusal_body
from malmoi.serve.http.request_body import announced_size, parse, parse_query, read_body
from malmoi.serve.http.response import as_json, is_small, parts, respond
from malmoi.serve.service.service import RequestContext, Service

JSON = "application/json"
SHORT = 32_768  # bytes of a body that are parsed in a millisecond or two
Handler = Callable[[Service, RequestContext, Any], Awaitable[Any]]


@dataclass(frozen=True)
class Page:
    """An answer that is no JSON."""

    content: bytes
    kind: str


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One path and method.

    `asks` is what stands in the body, or in the query of a GET; `answers` is what comes back,
    or the type of a page; `free` ones need no key.
    """

    path: str
    method: Literal["GET", "POST"]
    summary: str
    handler: Handler
    asks: type[msgspec.Struct] | None = None
    answers: type[msgspec.Struct] | str = "text/plain"
    dialect: Dialect = "malmoi"
    free: bool = False
    documented: bool = True


@dataclass(frozen=True, eq=False)
class EndpointApp:
    """An endpoint as an ASGI application."""

    endpoint: Endpoint
    service: Service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; what it holds is held until its answer is sent."""
        visit: RequestContext = scope["state"]["visit"]
        try:
            size, limits = announced_size(scope, self.service.limits), self.service.limits
            self.service.hold(visit, size if size <= limits.body else 0)
            content, kind = await self._answer(scope, receive)
            await respond(send, 200, content, kind, visit.headers)
        except Exception as error:
            refused = as_refusal(error)
            if refused is None:
                raise
            body = as_json(refusal_body(refused, self.endpoint.dialect))
            await respond(send, refused.status, [body], JSON, refused.headers)
        finally:
            self.service.release(visit)

    async def _answer(self, scope: Scope, receive: Receive) -> tuple[list[bytes], str]:
        visit: RequestContext = scope["state"]["visit"]
        asked = await self._asked(scope, receive)
        found = await self.endpoint.handler(self.service, visit, asked)
        if isinstance(found, Page):
            return [found.content], found.kind
        if is_small(found):
            return [as_json(found)], JSON
        return await self.service.aside(visit, partial(parts, found)), JSON

    async def _asked(self, scope: Scope, receive: Receive) -> Any:
        kind, limits = self.endpoint.asks, self.service.limits
        visit: RequestContext = scope["state"]["visit"]
        if self.endpoint.method == "POST":
            self.service.rouse(visit)
            body = await read_body(scope, receive, limits)
            if kind is None:
                return body
            if len(body) <= SHORT:
                return parse(body, kind, limits)
            return await self.service.aside(visit, partial(parse, body, kind, limits))
        return None if kind is None else parse_query(scope["query_string"], kind)
