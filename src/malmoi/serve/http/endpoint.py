"""Endpoint: path, method, schemas and handler; and the ASGI application that serves one."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property, partial
from types import UnionType
from typing import Any, Literal

import msgspec
from starlette.types import Receive, Scope, Send

from malmoi.serve.http.api_errors import Dialect, error_body, to_api_error
from malmoi.serve.http.request_body import declared_size, parse_body, parse_query, read_body
from malmoi.serve.http.response import dump_json, dump_json_parts, is_small, send_response
from malmoi.serve.service.request_context import RequestContext, RequestReporter
from malmoi.serve.service.service import Service

JSON = "application/json"
MAX_INLINE_BODY = 32_768  # bytes that are parsed in a millisecond or two
Handler = Callable[[Service, RequestContext, Any], Awaitable[Any]]


@dataclass(frozen=True)
class Page:
    """An answer that is not JSON."""

    content: bytes
    content_type: str


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One path and method.

    `request_type` is the schema of the body, or of the query of a GET; `response_type` is the
    schema of the answer, a union of several, or its content type; a `public` endpoint needs no
    API key.
    """

    path: str
    method: Literal["GET", "POST"]
    summary: str
    handler: Handler
    request_type: type[msgspec.Struct] | None = None
    response_type: type[msgspec.Struct] | UnionType | str = "text/plain"
    dialect: Dialect = "malmoi"
    public: bool = False
    documented: bool = True

    @cached_property
    def template(self) -> str:
        """The path without the types of its parameters."""
        return re.sub(r"{(\w+)[^}]*}", r"{\1}", self.path)


@dataclass(frozen=True, eq=False)
class EndpointApp:
    """An endpoint as an ASGI application."""

    endpoint: Endpoint
    service: Service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; its memory stays reserved until the answer is sent."""
        context: RequestContext = scope["state"]["context"]
        context.route = self.endpoint.template
        try:
            size, limits = declared_size(scope, self.service.limits), self.service.limits
            self.service.reserve_memory(context, size if size <= limits.max_body_bytes else 0)
            parts, content_type = await self._answer(scope, receive)
            await send_response(send, 200, parts, content_type, input_headers(context.reporter))
        except Exception as error:
            api_error = to_api_error(error)
            if api_error is None:
                raise
            body = dump_json(error_body(api_error, self.endpoint.dialect))
            await send_response(send, api_error.status, [body], JSON, api_error.headers)
        finally:
            self.service.release_memory(context)

    async def _answer(self, scope: Scope, receive: Receive) -> tuple[list[bytes], str]:
        context: RequestContext = scope["state"]["context"]
        request = await self._read_request(scope, receive)
        answer = await self.endpoint.handler(self.service, context, request)
        if isinstance(answer, Page):
            return [answer.content], answer.content_type
        if is_small(answer):
            return [dump_json(answer)], JSON
        return await self.service.offload_if_large(context, partial(dump_json_parts, answer)), JSON

    async def _read_request(self, scope: Scope, receive: Receive) -> Any:
        kind, limits = self.endpoint.request_type, self.service.limits
        context: RequestContext = scope["state"]["context"]
        if self.endpoint.method == "POST":
            self.service.wake_engine(context)
            body = await read_body(scope, receive, limits)
            if kind is None:
                return body
            if len(body) <= MAX_INLINE_BODY:
                return parse_body(body, kind, limits)
            return await self.service.offload_if_large(
                context, partial(parse_body, body, kind, limits)
            )
        return None if kind is None else parse_query(scope["query_string"], kind)


def input_headers(reporter: RequestReporter) -> dict[str, str]:
    """Headers that count the texts which were truncated, fragmented, or without a known word."""
    counts = {
        "x-truncated-texts": len(reporter.truncated),
        "x-fragmented-texts": len(reporter.fragmented),
        "x-zero-vectors": reporter.zero_vectors,
    }
    return {name: str(count) for name, count in counts.items() if count}
