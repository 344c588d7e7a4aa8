"""The body of a request: read within limits, its JSON values counted, then parsed.

Python holds its lock while JSON becomes objects, and answers no other request meanwhile.
Therefore the values are counted first, in short steps, and too many are rejected.
"""

import asyncio
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Receive, Scope

from malmoi.errors import shorten
from malmoi.serve.http.api_errors import ApiError
from malmoi.serve.http.schemas import RENAMED_FIELDS
from malmoi.serve.limits import Limits
from malmoi.serve.service.errors import ClientDisconnectedError

SCAN_BYTES = 1 << 16  # counted at a time: a millisecond
MAX_OTHER_LISTS = 64  # lists and objects of a request beside one per text


def declared_size(scope: Scope, limits: Limits) -> int:
    """The size of a body by its headers; of a chunked body, the largest that is allowed."""
    size = 0
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
        if name == b"transfer-encoding":
            size = limits.max_body_bytes
    return size


async def read_body(scope: Scope, receive: Receive, limits: Limits) -> bytes:
    """Read the body of a request; raise `ApiError` if it is too large or too slow."""
    too_large = ApiError(
        413,
        f"the request is larger than {limits.max_body_bytes:,} bytes: send fewer texts at a time",
        code="request_too_large",
    )
    if declared_size(scope, limits) > limits.max_body_bytes:
        raise too_large
    parts, size = list[bytes](), 0
    try:
        async with asyncio.timeout(limits.body_timeout):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnectedError
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > limits.max_body_bytes:
                    raise too_large
                if not message.get("more_body", False):
                    return parts[0] if len(parts) == 1 else b"".join(parts)
    except TimeoutError:
        raise ApiError(
            408,
            f"the request did not arrive within {limits.body_timeout:g} s",
            code="request_timeout",
            headers={"connection": "close"},
        ) from None


def parse_body(body: bytes, kind: type[msgspec.Struct], limits: Limits) -> Any:
    """Parse the JSON of a request into its schema."""
    if not body:
        raise ApiError(400, "the request has no body: send a JSON object")
    check_num_values(body, limits)
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        problem, _, location = shorten(str(error)).partition(" - at `$")
        location = location.strip("`.")
        field = location.split(".")[0].split("[")[0] or None
        where = f" in '{location}'" if field else ""
        sentence = f"invalid request{where}: {problem.replace('`', '')}{hint(kind, field, problem)}"
        raise ApiError(400, sentence, field=field) from error
    except RecursionError as error:
        raise ApiError(400, "the request is not JSON: it is nested too deeply") from error
    except UnicodeDecodeError as error:
        raise ApiError(400, "the request is not JSON: it is not UTF-8") from error
    except ValueError as error:
        raise ApiError(400, f"the request is not JSON: {error}") from error


def parse_query(query: bytes, kind: type[msgspec.Struct]) -> Any:
    """Parse the query string of a GET into its schema; a list is a name that is repeated."""
    try:
        pairs = parse_qsl(query.decode("ascii"), errors="strict", max_num_fields=100)
        fields: dict[str, Any] = dict(pairs)
        for name in list_fields(kind) & fields.keys():
            fields[name] = [value for other, value in pairs if other == name]
        return msgspec.convert(fields, kind, strict=False)
    except UnicodeDecodeError as error:
        raise ApiError(400, "the query string is not UTF-8") from error
    except ValueError as error:  # msgspec's are of this kind too
        problem, _, location = str(error).partition(" - at `$.")
        field = location.strip("`") or None
        where = f" in '{field}'" if field else ""
        sentence = f"invalid query string{where}: {problem.replace('`', '')}"
        raise ApiError(400, f"{sentence}{hint(kind, field, problem)}", field=field) from error


@cache
def list_fields(kind: type[msgspec.Struct]) -> frozenset[str]:
    """The names of the fields of a schema that are lists."""
    by_name = {
        one.name: msgspec.inspect.type_info(one.type) for one in msgspec.structs.fields(kind)
    }
    return frozenset(
        name
        for name, info in by_name.items()
        if isinstance(plain_type(info), msgspec.inspect.ListType)
    )


def plain_type(info: msgspec.inspect.Type) -> msgspec.inspect.Type:
    """A type without its metadata."""
    return plain_type(info.type) if isinstance(info, msgspec.inspect.Metadata) else info


def hint(kind: type[msgspec.Struct], field: str | None, problem: str) -> str:
    """How to fix an error: the new name of a renamed field, or the values that a field takes."""
    unknown = problem.partition("unknown field `")[2].strip("`")
    if unknown in RENAMED_FIELDS.get(kind, {}):
        return f"; it is now called {RENAMED_FIELDS[kind][unknown]}"
    if field and problem.startswith("Invalid enum value"):
        by_name = {one.name: one for one in msgspec.structs.fields(kind)}
        values = literal_values(by_name[field].type) if field in by_name else ()
        return f": choose one of {', '.join(map(str, values))}"
    return ""


def literal_values(annotation: Any) -> Iterator[Any]:
    """The values of all `Literal`s in an annotation."""
    info = annotation if isinstance(annotation, msgspec.inspect.Type) else None
    info = info or msgspec.inspect.type_info(annotation)
    if isinstance(info, msgspec.inspect.LiteralType):
        yield from info.values
    elif isinstance(info, msgspec.inspect.Metadata):
        yield from literal_values(info.type)
    elif isinstance(info, msgspec.inspect.UnionType):
        for one in info.types:
            yield from literal_values(one)


def check_num_values(body: bytes, limits: Limits) -> None:
    """Reject JSON with more values, or more lists and objects, than a request may have.

    The first count includes commas and brackets in strings; only if it is too large, the body is
    counted again without its strings.
    """
    max_lists = limits.max_texts + MAX_OTHER_LISTS
    values, lists = count_values(body)
    if values <= limits.max_json_values and lists <= max_lists:
        return
    values = lists = 0
    in_string = False
    for start, stop in scan_bounds(body):
        block, in_string = strip_strings(body[start:stop], in_string)
        more_values, more_lists = count_values(block)
        values, lists = values + more_values, lists + more_lists
        if values > limits.max_json_values:
            sentence = f"the request has more than {limits.max_json_values:,} values: send fewer"
            raise ApiError(400, sentence, code="too_many_values")
        if lists > max_lists:
            sentence = f"the request has more than {max_lists:,} lists: send fewer texts"
            raise ApiError(400, sentence, code="too_many_texts")


def count_values(block: bytes) -> tuple[int, int]:
    """An upper bound of the values in JSON without strings; and its lists and objects."""
    lists = block.count(b"[") + block.count(b"{")
    return block.count(b",") + lists, lists


def scan_bounds(body: bytes) -> list[tuple[int, int]]:
    """Bounds of blocks of about `SCAN_BYTES`; none separates a backslash from what it escapes."""
    bounds, start = list[tuple[int, int]](), 0
    while start < len(body):
        stop = min(start + SCAN_BYTES, len(body))
        block = body[start:stop]
        stop += (len(block) - len(block.rstrip(b"\\"))) % 2
        bounds.append((start, stop))
        start = stop
    return bounds


def strip_strings(block: bytes, in_string: bool) -> tuple[bytes, bool]:
    """Remove strings; `in_string` says whether the block starts, or then ends, inside one."""
    unescaped = block.replace(b"\\\\", b"").replace(b'\\"', b"")
    parts = unescaped.split(b'"')
    return b"".join(parts[in_string::2]), in_string ^ (len(parts) % 2 == 0)
