"""An endpoint: what it is asked, what it answers, and the way of one request through it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import parse_qsl

import msgspec
import orjson
from starlette.types import Receive, Scope, Send

from malmoi.serve.limits import Limits
from malmoi.serve.refusing import Dialect, Refused, as_refusal, refusal_body
from malmoi.serve.service import Gone, Service, Visit

JSON = "application/json"
Handler = Callable[[Service, Visit, Any], Awaitable[Any]]


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
class Answering:
    """An endpoint as an ASGI application."""

    endpoint: Endpoint
    service: Service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        visit: Visit = scope["state"]["visit"]
        try:
            size, limits = announced_size(scope, self.service.limits), self.service.limits
            self.service.hold(visit, size if size <= limits.body else 0)
            asked = await self._asked(scope, receive)
            found = await self.endpoint.handler(self.service, visit, asked)
            page = found if isinstance(found, Page) else Page(as_json(found), JSON)
        except Exception as error:
            refused = as_refusal(error)
            if refused is None:
                raise
            body = orjson.dumps(refusal_body(refused, self.endpoint.dialect))
            await respond(send, refused.status, body, JSON, refused.headers)
            return
        finally:
            self.service.release(visit)
        await respond(send, 200, page.content, page.kind, visit.headers)

    async def _asked(self, scope: Scope, receive: Receive) -> Any:
        kind = self.endpoint.asks
        if self.endpoint.method == "POST":
            self.service.rouse(scope["state"]["visit"])
            body = await read_body(scope, receive, self.service.limits)
            return body if kind is None else parse(body, kind)
        return None if kind is None else parse_query(scope["query_string"], kind)


def as_json(found: Any) -> bytes:
    """An answer as JSON; arrays are written as they are."""
    return orjson.dumps(found, default=msgspec.to_builtins, option=orjson.OPT_SERIALIZE_NUMPY)


async def respond(
    send: Send, status: int, body: bytes, kind: str, headers: dict[str, str] | None = None
) -> None:
    """Send all of an answer."""
    pairs = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
    pairs += [(name.encode(), value.encode("latin-1")) for name, value in (headers or {}).items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


def announced_size(scope: Scope, limits: Limits) -> int:
    """How many bytes a request says it has; one that does not say may have as many as any."""
    size = 0
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
        if name == b"transfer-encoding":
            size = limits.body
    return size


async def read_body(scope: Scope, receive: Receive, limits: Limits) -> bytes:
    """The body of a request that is neither too large nor too slow."""
    too_large = Refused(
        413,
        f"the request is larger than {limits.body:,} bytes: send fewer texts at a time",
        code="request_too_large",
    )
    if announced_size(scope, limits) > limits.body:
        raise too_large
    parts, size = list[bytes](), 0
    try:
        async with asyncio.timeout(limits.body_time):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Gone
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > limits.body:
                    raise too_large
                if not message.get("more_body", False):
                    return parts[0] if len(parts) == 1 else b"".join(parts)
    except TimeoutError:
        raise Refused(
            408,
            f"the request was not there after {limits.body_time:g} s",
            code="request_timeout",
            headers={"connection": "close"},
        ) from None


def parse(body: bytes, kind: type[msgspec.Struct]) -> Any:
    """JSON as what an endpoint is asked."""
    if not body:
        raise Refused(400, "the request has no body: send a JSON object")
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        parameter = place.strip("`.").split(".")[0].split("[")[0] or None
        where = f" in '{place.strip('`.')}'" if parameter else ""
        sentence = f"the request is not as it should be{where}: {what.replace('`', '')}"
        raise Refused(400, sentence, parameter=parameter) from error
    except RecursionError as error:
        raise Refused(400, "the request is not JSON: it is nested too deeply") from error
    except UnicodeDecodeError as error:
        raise Refused(400, "the request is not JSON: it holds bytes that are no UTF-8") from error
    except ValueError as error:
        raise Refused(400, f"the request is not JSON: {error}") from error


def parse_query(query: bytes, kind: type[msgspec.Struct]) -> Any:
    """What follows the ? as what an endpoint is asked."""
    try:
        found = dict(parse_qsl(query.decode("ascii"), errors="strict", max_num_fields=100))
        return msgspec.convert(found, kind, strict=False)
    except UnicodeDecodeError as error:
        raise Refused(400, "the address holds bytes that are no UTF-8") from error
    except ValueError as error:  # msgspec's are of this kind too
        sentence = str(error).replace("`", "").replace(" - at $.", " in ")
        raise Refused(400, f"the address is not as it should be: {sentence}") from error
