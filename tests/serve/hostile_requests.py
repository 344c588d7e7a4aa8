"""Requests that no client should send, made from a seed: every endpoint, every odd value.

Knows nothing of what is answered. `python -m bench hostile` sends more of them than the tests.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from malmoi.serve.routes import ENDPOINTS

FINE: dict[str, dict[str, Any]] = {
    "/embed": {
        "texts": ["a"],
        "layers": -1,
        "layer_pooling": "single",
        "pool": "mean",
        "per": "text",
    },
    "/encode": {"texts": ["a"], "id": 1, "is_tokenized": False, "show_tokens": True},
    "/tokenize": {"texts": ["a"]},
    "/v1/embeddings": {"model": "minilm", "input": "a", "dimensions": 5},
    "/neighbours": {"model": "capitals", "word": "한국", "k": 2, "metric": "cosine"},
    "/analogy": {"model": "capitals", "expression": "서울 - 한국 + 일본", "k": 2, "method": "add"},
    "/similarity": {"model": "capitals", "a": "한국", "b": "서울"},
    "/classify": {"model": "topics", "input": ["a goal"], "top_k": 1, "explain": True},
    "/search": {"query": "bank", "k": 2, "where": ["year>=2000"], "hybrid": True, "lexical": False},
}
MORE_FIELDS: dict[str, tuple[str, ...]] = {
    "/embed": ("recipe", "weights", "scale", "include_special_tokens", "word_pooling", "prompt",
               "truncate", "normalize", "model", "mix", "odd"),
    "/encode": ("model", "odd"),
    "/tokenize": ("model", "odd"),
    "/v1/embeddings": ("encoding_format", "user", "odd"),
    "/search": ("model", "odd"),
}  # fmt: skip
ODD: tuple[Any, ...] = (
        None, True, False, 0, 1, -1, 2, 99, 2**31, 2**63, 2**64, -(2**63) - 1, 2**70, 10**400, 0.5,
        1e308, -1e308, 5e-324, "", " ", "\0", "a\0b", "\ud800", "\udfff\ud800", "\ufffe", "\x7f",
        "a" * 5000, "가" * 2000, "e" + "\u0315\u0300" * 1000, "9" * 5000, "9" * 900 + ":", "-:-",
        ":", "=", "all", "0,0,0", "\u202e", "😀" * 300, " " * 1000, "(" * 1000, "'" * 999,
        '"' * 999,
        "a - " * 90, "1*" * 400, "../../etc/passwd", "%00", "' OR 1=1", "<script>", "${7*7}", [],
        {},
        [[]], [[[]]], [{}], [None], [""], [" "], ["a", None], ["a", ["b"]], [["a", "b", "c"]],
        [["a"]], [["a", "b"]], [[1]], [1, "a"], [2**70], [-1], [True], [0.5], ["a"] * 300,
        ["=", "a=", "=a"], ["a>" + "9" * 400], ["a>nan"], ["!"] * 33, {"a": {"b": [1]}},
)  # fmt: skip
VALUES = tuple(map(json.dumps, ODD))
RAW_VALUES = (
    "NaN",
    "Infinity",
    "-Infinity",
    "1e999",
    "-1e999",
    "01",
    "1.",
    ".5",
    "+1",
    "0x10",
    "'a'",
    "a",
    "undefined",
    "tru",
    '"\\x41"',
    '"\\u12"',
    '"\\ud800"',
    '"a',
    "[1,]",
    "[1",
    "{",
    '{"a"}',
    "//",
    "1 2",
    '"\n"',
    "1" * 5000,
    "1." + "1" * 5000,
    "1e" + "9" * 400,
    "[" * 2000,
    "[" * 500 + "]" * 500,
    '{"a":' * 500 + "1" + "}" * 500,
)
BODIES = (
    b"",
    b" ",
    b"null",
    b"5",
    b'"a"',
    b"[]",
    b"{}",
    b"{",
    b"}",
    b"\xef\xbb\xbf{}",
    b"\x00",
    b"\xff\xfe{\x00",
    b'{"texts": ["\xff"]}',
    b'{"texts": ["\xed\xa0\x80"]}',
    b'{"texts": ["\xc0\x80"]}',
    b"{}{}",
    b"{}\x00",
    b'{"texts": ["a"], "texts": ["b"]}',
    b'{"model": "minilm", "model": 5}',
    b"texts=a&texts=b",
    b"/**/{}",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b'{"\\u0000": 1}',
    b'{"": 1}',
    b"\x1f\x8b\x08\x00",
    b'--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x--',
    b"<a/>",
)
METHODS = ("HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "post", "BREW", "PROPFIND", "GETT")
HEADERS = (
    b"content-type: text/xml\r\n",
    b"content-type: application/json; charset=utf-16\r\n",
    b"content-encoding: gzip\r\n",
    b"expect: 100-continue\r\n",
    b"expect: 200-ok\r\n",
    b"upgrade: websocket\r\nconnection: upgrade\r\n",
    b"upgrade: h2c\r\nconnection: upgrade\r\n",
    b"host: evil.example\r\n",
    b"host:\r\n",
    b"host: [::1\r\n",
    b"host: \xff\r\n",
    b"authorization: Bearer \xff\r\n",
    b"authorization: Basic =====\r\n",
    b"x-request-id: \xff\xfe\r\n",
    b"x-request-id: " + b"a" * 1000 + b"\r\n",
    b"x: " + b"y" * 60_000 + b"\r\n",
    b"x: y\r\n" * 2000,
    b"x : y\r\n",
    b": y\r\n",
    b"x\r\n",
    b"x: a\x00b\r\n",
    b"x: a\nb: c\r\n",
    b" folded: y\r\n",
    b"transfer-encoding: gzip\r\n",
    b"transfer-encoding: identity\r\n",
    b"range: bytes=0-1\r\n",
    b"origin: null\r\n",
    b"accept: \x01\r\n",
    b"content-length: 5\r\n",
    b"content-length: -1\r\n",
    b"content-length: 1e3\r\n",
    b"content-length: " + b"9" * 5000 + b"\r\n",
)
PATHS = (
    "/%00",
    "/..",
    "/../../etc/passwd",
    "//",
    "/%ff",
    "/%",
    "/%zz",
    "/a" * 5000,
    "/v1/models/%00",
    "/v1/models/%ed%a0%80",
    "/v1/models/" + "a" * 30_000,
    "/sections/a/b",
    "/sections/../../x",
    "/scene.json",
    "/docs?" + "a=b&" * 5000,
    "*",
    "http://a/health",
    "/health#x",
    "/health?%ff=%ff",
    "/neighbours?",
    "/neighbours?word",
    "/neighbours?word=%ff",
    "/neighbours?word=a&k=" + "9" * 5000,
    "/neighbours?word=a&word=b",
    "/neighbours?word=a&k=1e3",
    "/neighbours?word=a&k=-1",
    "/neighbours?word=a&k=%00",
    "/analogy?expression=" + quote("a - ") * 300,
    "/similarity?a=%00&b=%ed%a0%80",
    "/neighbours?" + "word=a&" * 200,
    "/neighbours?word=a;k=1",
)
CHUNKS = (
    b"0\r\n\r\n",
    b"2\r\n{}\r\n0\r\n\r\n",
    b"zz\r\n",
    b"-1\r\n",
    b"ffffffffffffffffff\r\n",
    b"\r\n",
    b"2\r\n{}\r\n0\r\nauthorization: a\r\n\r\n",
    b"2;x=y\r\n{}\r\n0\r\n\r\n",
    b"1\r\n{",
    b"5\r\n{}\r\n",
    b"0x2\r\n{}\r\n",
    b"2\n{}\n0\n\n",
    b"2\r\n{}0\r\n\r\n",
    b"1\r\n{\r\n" * 200,
    b"0\r\n" + b"x: y\r\n" * 500,
)
NO_HTTP = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\r\n\r\n",
    b"\x00" * 99,
    b"GET /\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET  / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\n\n",
    b"G" * 5000,
    b"GET /health HTTP/1.0\r\n\r\n",
    b"GET /health HTTP/1.1\r\n\r\n",
    b"POST /embed HTTP/1.1\r\n\r\n{}",
    b"SSH-2.0-x\r\n",
    b"GET /health HTTP/1.1\r\nhost: a\r\nhost: b\r\nconnection: close\r\n\r\n",
)


@dataclass(frozen=True)
class Case:
    """What is sent; `ends` says whether a request is whole, so that an answer must come."""

    name: str
    sent: bytes
    ends: bool = True


def request(path: str, body: bytes, head: bytes = b"", method: str = "POST") -> bytes:
    """A request whose connection is closed after it."""
    first = f"{method} {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n".encode()
    return first + head + b"content-length: %d\r\n\r\n" % len(body) + body


def cases(seed: int, count: int) -> list[Case]:
    """So many cases: all that are odd as HTTP, the rest odd values of fields."""
    chance = random.Random(seed)
    found = [*odd_bodies(), *odd_http(chance)]
    values = list(odd_values())
    chance.shuffle(values)
    while len(found) + len(values) < count:
        values.append(several_odd_values(chance))
    found += values[: max(0, count - len(found))]
    chance.shuffle(found)
    return found


def odd_values() -> Iterator[Case]:
    """Each field of each endpoint with each odd value, the others being fine."""
    for path, fine in FINE.items():
        for field in (*fine, *MORE_FIELDS.get(path, ())):
            for value in (*VALUES, *RAW_VALUES):
                fields = {name: json.dumps(it) for name, it in fine.items()} | {field: value}
                yield Case(f"{path} {field}={value[:40]}", request(path, as_object(fields)))


def several_odd_values(chance: random.Random) -> Case:
    """Some fields of an endpoint with odd values at once."""
    path = chance.choice(list(FINE))
    names = [*FINE[path], *MORE_FIELDS.get(path, ())]
    chosen = chance.sample(names, chance.randint(1, len(names)))
    fields = {name: json.dumps(value) for name, value in FINE[path].items()}
    fields |= {name: chance.choice((*VALUES, *VALUES, *RAW_VALUES)) for name in chosen}
    return Case(f"{path} {sorted(chosen)}", request(path, as_object(fields)))


def as_object(fields: dict[str, str]) -> bytes:
    """JSON of values that are written already."""
    return ("{" + ", ".join(f'"{name}": {value}' for name, value in fields.items()) + "}").encode()


def odd_bodies() -> Iterator[Case]:
    """Bodies that are no request."""
    for path in FINE:
        for body in BODIES:
            yield Case(f"{path} {body[:30]!r}", request(path, body))


def odd_http(chance: random.Random) -> Iterator[Case]:
    """Methods, headers, paths, chunks and sizes that are odd, and what is no HTTP at all."""
    every = sorted({one.path for one in ENDPOINTS if "{" not in one.path})
    body = b'{"texts": ["a"], "model": "minilm", "input": "a"}'
    for method in METHODS:
        for path in chance.sample(every, 5):
            yield Case(f"{method} {path}", request(path, b"", method=method))
    for path in PATHS:
        yield Case(f"GET {path[:40]}", request(path, b"", method="GET"))
        yield Case(f"POST {path[:40]}", request(path, body))
    chunked = b"transfer-encoding: chunked\r\n"
    for path in ("/embed", "/v1/embeddings", "/health", "/nothing"):
        first = f"POST {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n".encode()
        for head in HEADERS:
            yield Case(f"{path} {head[:40]!r}", request(path, body, head))
        for chunks in CHUNKS:
            yield Case(f"{path} {chunks[:30]!r}", first + chunked + b"\r\n" + chunks, ends=False)
        yield Case(f"{path} both sizes", request(path, b"0\r\n\r\n", chunked), ends=False)
        for size in (0, 1, len(body) - 1, len(body) + 1, 10**7, 10**30):
            head = b"content-length: %d\r\n\r\n" % size
            yield Case(f"{path} of {size}", first + head + body, ends=False)
        for cut in chance.sample(range(1, len(first) + len(body)), 6):
            yield Case(f"{path} cut at {cut}", request(path, body)[:cut], ends=False)
    for sent in NO_HTTP:
        yield Case(f"{sent[:30]!r}", sent, ends=False)
    for _ in range(20):
        yield Case("random bytes", chance.randbytes(chance.randint(1, 400)), ends=False)
