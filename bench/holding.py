"""Requests of 8 MB, one for each way to be large at each endpoint; how long each holds the loop.

Texts of few tokens stand for the rest at endpoints that run the model: it runs without Python's
lock, and minutes of it would say nothing more.
"""

import http.client
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from bench.measure import ROOT

BODY = 8_000_000  # bytes
TEXTS = ("/embed", "/encode", "/tokenize", "/v1/embeddings")
WORDS = ((2048, "a"), (40, "a"), (2048, "ê"), (40, "\u0315\u0300"))  # few tokens each
LONG_TEXTS = (*WORDS, (2048, "a "), (40, "a "), (60, "가 "), (2048, "e\u0315\u0300"))
Fill = Callable[[], bytes]


@dataclass(frozen=True)
class Large:
    """A large request."""

    name: str
    path: str
    body: Fill


@dataclass(frozen=True)
class Held:
    """What became of it: a status, seconds in which the loop stood still, bytes at the peak."""

    large: Large
    status: int
    seconds: float
    memory: int


def repeated(before: str, one: str, after: str) -> Fill:
    """JSON that is as large as may be: one thing over and over."""

    def fill() -> bytes:
        head, bit, tail = before.encode(), one.encode(), after.encode()
        return head + bit * ((BODY - len(head) - len(tail)) // len(bit)) + tail

    return fill


def texts(count: int, bit: str, **more: Any) -> Fill:
    """So many texts of equal length, in all as large as may be."""

    def fill() -> bytes:
        size = (BODY - 1000) // count - 4
        one = bit * (size // len(json.dumps(bit, ensure_ascii=False).encode()[1:-1]))
        key = "input" if "input" in more else "texts"
        asked = more | {key: [one[:199_999]] * count}
        return json.dumps(asked, ensure_ascii=False).encode()[:BODY]

    return fill


def large_requests() -> Iterator[Large]:
    """All of them."""
    for path in TEXTS:
        field, more = ("input", {"model": "minilm", "input": 0}) if "v1" in path else ("texts", {})
        head = '{"model": "minilm", ' if more else "{"
        for count, bit in LONG_TEXTS if path == "/tokenize" else WORDS:
            yield Large(f"{count} texts of {bit!r}", path, texts(count, bit, **more))
        for name, bit, end in (
            ("numbers", "1,", "1"),
            ("lists", "[],", "[]"),
            ("strings", '"a",', '"a"'),
            ("objects", '{"a":1},', "{}"),
            ("commas in strings", '",[{,",', '""'),
        ):
            yield Large(f"{name}", path, repeated(f'{head}"{field}": [', bit, f"{end}]}}"))
        yield Large("escapes", path, repeated(f'{head}"{field}": "', "\\n", '"}'))
        yield Large("escaped letters", path, repeated(f'{head}"{field}": "', "\\uac00", '"}'))
        yield Large("backslashes", path, repeated(f'{head}"{field}": "', "\\\\", '"}'))
        yield Large("brackets", path, repeated(f'{head}"{field}": ', "[", ""))
        yield Large("keys", path, repeated(head, '"x":1,', '"y": 1}'))
        yield Large("one string", path, repeated(f'{head}"{field}": "', "a", '"}'))
        yield Large("no JSON", path, repeated("", "a", ""))
    yield from few_values()


def few_values() -> Iterator[Large]:
    """Requests of which one part is large, and those that ask for much."""
    pairs = {"texts": [["a" * 1940, "b" * 1940]] * 2040}
    yield Large("pairs", "/embed", json.dumps(pairs).encode)
    wordy = {"texts": [["a " * 970, "b " * 970]] * 2040}
    yield Large("pairs of many words", "/tokenize", json.dumps(wordy).encode)
    ids = {"model": "minilm", "input": [[1037] * 3] * 2048}
    yield Large("ids of tokens", "/v1/embeddings", json.dumps(ids).encode)
    one = {"model": "minilm", "input": [1037] * 299_000}
    yield Large("one list of ids", "/v1/embeddings", json.dumps(one).encode)
    lists = {"texts": [["word"] * 3] * 2048, "is_tokenized": True, "show_tokens": True}
    yield Large("lists of tokens", "/encode", json.dumps(lists).encode)
    for per in ("word", "token"):
        asked = {"texts": ["a b c d e f g h " * 30] * 60, "per": per}
        yield Large(f"vectors per {per}", "/embed", json.dumps(asked).encode)
    every = {"texts": ["a b c"] * 2048, "layers": "all", "layer_pooling": "concat"}
    yield Large("all layers", "/embed", json.dumps(every | {"normalize": True}).encode)
    for field in ("layers", "recipe", "layer_pooling", "model"):
        head = f'{{"texts": ["a"], "{field}": "'
        yield Large(f"a long {field}", "/embed", repeated(head, " ", '"}'))
    yield Large("weights", "/embed", repeated('{"texts": ["a"], "weights": [', "1e-3,", "1]}"))
    yield Large("layers", "/embed", repeated('{"texts": ["a"], "layers": [', "1,", "1]}"))
    yield Large("id", "/encode", repeated('{"texts": ["a"], "id": "', "a", '"}'))
    for path, field in (("/neighbours", "word"), ("/analogy", "expression"), ("/similarity", "a"),
                        ("/search", "query")):  # fmt: skip
        other = '"b": "the", ' if field == "a" else ""
        for model in ("glove", "subwords") if field != "query" else ("index",):
            head = f'{{"model": "{model}", {other}"{field}": "'
            for bit in ("a", "a ", "a + ", "가", "\\u0315\\u0300", "1", "' "):
                yield Large(f"{model}: {bit!r}", path, repeated(head, bit, '"}'))
    yield Large("filters", "/search", repeated('{"query": "a", "where": [', '"a=1",', '"a=1"]}'))
    yield Large("a filter", "/search", repeated('{"query": "a", "where": ["', " ", '"]}'))
    long = json.dumps({"query": "the bank of the river " * 9000, "hybrid": True, "k": 1000})
    yield Large("a long query", "/search", long.encode)
    for count, bit in LONG_TEXTS:
        yield Large(f"{count} texts of {bit!r}", "/classify", texts(count, bit, input=0))
    yield Large("strings", "/classify", repeated('{"input": [', '"a",', '"a"]}'))
    explained = {"input": ["a b c d e " * 499], "explain": True}
    yield Large("explained", "/classify", json.dumps(explained).encode)
    for model in ("glove", "subwords"):
        yield Large(f"{model}: texts", "/embed", texts(2048, "a b c ", model=model))
        yield Large(f"{model}: a word", "/embed", texts(40, "a", model=model))


@dataclass
class Watched:
    """A server of our own that says how long its loop was held."""

    address: str
    process: "subprocess.Popen[str]"

    def look(self) -> tuple[float, int]:
        """The longest time since the last look, in seconds; the memory at its peak in bytes."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        longest, memory = self.process.stdout.readline().split()
        return int(longest) / 1e6, int(memory)

    def send(self, large: Large) -> Held:
        """A request to its end."""
        body = large.body()
        port = urlsplit(self.address).port
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        self.look()
        try:
            connection.request("POST", large.path, body)
            answer = connection.getresponse()
            while answer.read(1 << 20):
                pass
            status = answer.status
        except (OSError, http.client.HTTPException):
            status = 0
        finally:
            connection.close()
        seconds, memory = self.look()
        return Held(large, status, seconds, memory)


@contextmanager
def watched(*places: str) -> Iterator[Watched]:
    """Our server with a watch on its loop, as a process."""
    command = [sys.executable, "-m", "bench.watched_server", *places]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield Watched(process.stdout.readline().strip(), process)
        finally:
            process.terminate()
