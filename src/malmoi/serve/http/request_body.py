"""The body of a request: read within limits, counted, and parsed.

Python holds its lock while JSON becomes objects, so that nobody else is answered meanwhile: how
many objects there will be is counted before, in short steps, and too many are refused.
"""

import asyncio
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Receive, Scope

from malmoi.errors import shorten
from malmoi.serve.http.api_errors import ApiError
from malmoi.serve.limits import Limits
from malmoi.serve.service.service import ClientDisconnected

STEP = 1 << 16  # bytes that are counted at a time: a millisecond
FIELDS = 64  # lists and objects of a request beside one a text


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
    too_large = ApiError(
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
                    raise ClientDisconnected
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > limits.body:
                    raise too_large
                if not message.get("more_body", False):
                    return parts[0] if len(parts) == 1 else b"".join(parts)
    except TimeoutError:
        raise ApiError(
            408,
            f"the request was not there after {limits.body_time:g} s",
            code="request_timeout",
            headers={"connection": "close"},
        ) from None


def parse(body: bytes, kind: type[msgspec.Struct], limits: Limits) -> Any:
    """JSON as what an endpoint is asked."""
    if not body:
        raise ApiError(400, "the request has no body: send a JSON object")
    check_contents(body, limits)
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        what, _, place = shorten(str(error)).partition(" - at `$")
        parameter = place.strip("`.").split(".")[0].split("[")[0] or None
        where = f" in '{place.strip('`.')}'" if parameter else ""
        sentence = f"the request is not as it should be{where}: {what.replace('`', '')}"
        raise ApiError(400, sentence, parameter=parameter) from error
    except RecursionError as error:
        raise ApiError(400, "the request is not JSON: it is nested too deeply") from error
    except UnicodeDecodeError as error:
        raise ApiError(400, "the request is not JSON: it holds bytes that are no UTF-8") from error
    except ValueError as error:
        raise ApiError(400, f"the request is not JSON: {error}") from error


def parse_query(query: bytes, kind: type[msgspec.Struct]) -> Any:
    """What follows the ? as what an endpoint is asked."""
    try:
        found = dict(parse_qsl(query.decode("ascii"), errors="strict", max_num_fields=100))
        return msgspec.convert(found, kind, strict=False)
    except UnicodeDecodeError as error:
        raise ApiError(400, "the address holds bytes that are no UTF-8") from error
    except ValueError as error:  # msgspec's are of this kind too
        sentence = str(error).replace("`", "").replace(" - at $.", " in ")
        raise ApiError(400, f"the address is not as it should be: {sentence}") from error


def check_contents(body: bytes, limits: Limits) -> None:
    """Refuse JSON of more values, or more lists and objects, than a request may hold.

    Commas and brackets in texts count too at first; only if that is too many, the rest is looked
    at without its strings.
    """
    most_lists = limits.texts + FIELDS
    values, lists = count_contents(body)
    if values <= limits.values and lists <= most_lists:
        return
    values = lists = 0
    inside = False
    for start, stop in steps(body):
        outside, inside = without_strings(body[start:stop], inside)
        found = count_contents(outside)
        values, lists = values + found[0], lists + found[1]
        if values > limits.values:
            sentence = f"the request holds more than {limits.values:,} values: send fewer at a time"
            raise ApiError(400, sentence, code="too_many_values")
        if lists > most_lists:
            sentence = (
                f"the request holds more than {most_lists:,} lists: send fewer texts at a time"
            )
            raise ApiError(400, sentence, code="too_many_texts")


def count_contents(text: bytes) -> tuple[int, int]:
    """At most how many values JSON without strings has, and how many lists and objects."""
    lists = text.count(b"[") + text.count(b"{")
    return text.count(b",") + lists, lists


def steps(body: bytes) -> list[tuple[int, int]]:
    """Where each step begins and ends, none of them between a backslash and what it escapes."""
    bounds, start = list[tuple[int, int]](), 0
    while start < len(body):
        stop = min(start + STEP, len(body))
        block = body[start:stop]
        stop += (len(block) - len(block.rstrip(b"\\"))) % 2
        bounds.append((start, stop))
        start = stop
    return bounds


def without_strings(block: bytes, inside: bool) -> tuple[bytes, bool]:
    """What stands outside of strings; and whether a string goes on after it, as one may before."""
    plain = block.replace(b"\\\\", b"").replace(b'\\"', b"")
    parts = plain.split(b'"')
    return b"".join(parts[inside::2]), inside ^ (len(parts) % 2 == 0)
