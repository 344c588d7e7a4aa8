"""Whatever is sent, the answer is one sentence and 4xx, and the next request is answered."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPResponse, IncompleteRead

import pytest

from malmoi.serve.limits import Limits
from malmoi.serve.server import ServerSettings
from malmoi.serve.service.loaded_models import Models
from tests.serve.fixtures import Running, serving

PATHS = {
    "/v1/embeddings": "openai",
    "/embed": "malmoi",
    "/encode": "bert-as-service",
    "/tokenize": "malmoi",
    "/neighbours": "malmoi",
}
BODIES = {
    "nothing": b"",
    "no JSON": b"hello",
    "half": b'{"texts": ["a"',
    "a list": b"[]",
    "a number": b"5",
    "null": b"null",
    "invalid UTF-8": b'{"texts": ["\xff\xfe"], "input": "\xff"}',
    "half a character": b'{"texts": ["\\ud800"], "input": "\\ud800"}',
    "deep": b'{"texts": ' + b"[" * 50_000,
    "deep unknown": b'{"other": ' + b'{"a":' * 50_000,
    "wrong types": b'{"texts": {"a": 1}, "input": {"a": 1}, "word": 5}',
    "not a number": b'{"texts": ["a"], "input": NaN, "word": NaN}',
    "huge number": b'{"k": 1' + b"0" * 400 + b', "texts": 1, "input": 1, "word": 1}',
    "zeros": b"\x00" * 100,
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("what", BODIES)
def test_a_malformed_body_is_told_in_one_sentence(server: Running, path: str, what: str) -> None:
    found = server.post(path, BODIES[what])
    assert found.status == 400
    said = found.json
    sentence = said["description"] if PATHS[path] == "bert-as-service" else said["error"]["message"]
    assert sentence
    assert "\n" not in sentence


def test_paths_and_methods_that_nobody_answers(server: Running) -> None:
    assert server.get("/nothing").status == 404
    assert server.get("/embed").status == 405
    assert server.get("/v1/embeddings").json["error"]["type"] == "invalid_request_error"
    allowed = server.post("/health", {}).headers["allow"]
    assert set(allowed.split(", ")) == {"GET", "HEAD"}


def test_too_large_a_request_is_refused_before_it_is_read(server: Running) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(b"POST /embed HTTP/1.1\r\nhost: a\r\ncontent-length: 10000000\r\n\r\n")
        answer = connection.recv(1000)
    assert answer.startswith(b"HTTP/1.1 413")


def test_too_large_a_request_of_unknown_size_is_refused_too(server: Running) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        head = b"POST /embed HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
        connection.sendall(head)
        chunk = b"f4240\r\n" + b"a" * 1_000_000 + b"\r\n"
        try:
            for _ in range(10):
                connection.sendall(chunk)
            answer = connection.recv(1000)
        except (BrokenPipeError, ConnectionResetError):
            return  # refused and closed while we were sending
        assert answer.startswith(b"HTTP/1.1 413")


def test_a_text_that_is_too_long_is_told_by_its_place(server: Running) -> None:
    found = server.post("/embed", {"texts": ["a", "b" * 200_001]})
    assert found.status == 400
    assert "text 1 has 200,001 characters" in found.json["error"]["message"]


def test_asked_for_graphs_are_bounded(server: Running, models: Models) -> None:
    for layers in ([0], [1], [2], [3], [4], [0, 1], [0, 2], [1, 3], [0, 5]):
        pooling = "sum" if len(layers) > 1 else "single"
        request = {"texts": "a", "layers": layers, "layer_pooling": pooling}
        assert server.post("/embed", request).status == 200
    tokenizer = models.get("minilm").tokenizer
    assert tokenizer is not None
    assert len(tokenizer.graphs) <= 4


@pytest.fixture
def plain(models: Models) -> Iterator[Running]:
    with serving(models) as running:
        yield running


@pytest.fixture
def impatient(models: Models) -> Iterator[Running]:
    limits = Limits(body_timeout=1, idle_timeout=1.5)
    with serving(models, ServerSettings(quiet=True, limits=limits)) as running:
        yield running


def test_slow_clients_do_not_stay(impatient: Running) -> None:
    place = ("127.0.0.1", impatient.port)
    with (
        socket.create_connection(place, timeout=60) as silent,
        socket.create_connection(place, timeout=60) as half_a_head,
        socket.create_connection(place, timeout=60) as half_a_body,
    ):
        half_a_head.sendall(b"POST /embed HTTP/1.1\r\nhost:")
        half_a_body.sendall(b"POST /embed HTTP/1.1\r\nhost: a\r\ncontent-length: 50\r\n\r\n{")
        assert half_a_body.recv(100).startswith(b"HTTP/1.1 408")
        for connection in (silent, half_a_head):
            with suppress(ConnectionResetError):
                assert connection.recv(100) == b""
    assert impatient.post("/embed", {"texts": "a"}).status == 200


def test_bytes_that_are_no_request_do_not_keep_a_connection(impatient: Running) -> None:
    ask = b"GET /health HTTP/1.1\r\nhost: a\r\n\r\n"
    with socket.create_connection(("127.0.0.1", impatient.port), timeout=60) as connection:
        connection.sendall(ask)
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")
        connection.sendall(b"\r\n")
        with suppress(ConnectionResetError):
            assert connection.recv(100) == b""


def test_headers_have_an_end(server: Running) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nhost: a\r\nx: ")
        try:
            for _ in range(40):
                connection.sendall(b"a" * 100_000)
            answer = connection.recv(1000)
        except (BrokenPipeError, ConnectionResetError):
            return  # refused and closed while we were sending
        assert answer.startswith(b"HTTP/1.1 431")


def test_long_headers_are_read(server: Running) -> None:
    assert server.get("/health", x="a" * 30_000).status == 200


def test_too_many_connections_are_told_so(models: Models) -> None:
    limits = Limits(max_connections=1)
    with serving(models, ServerSettings(quiet=True, limits=limits)) as server:
        place = ("127.0.0.1", server.port)
        with socket.create_connection(place) as first:
            first.sendall(b"GET /health HTTP/1.1\r\nhost: a\r\n\r\n")
            assert first.recv(1000).startswith(b"HTTP/1.1 200")
            with socket.create_connection(place, timeout=60) as second:
                answer = HTTPResponse(second)
                answer.begin()
                assert answer.status == 503
                assert answer.headers["retry-after"] == "1"
                assert json.loads(answer.read())["error"]["code"] == "overloaded"


@pytest.mark.parametrize("head", [b"", b"connection: close\r\n"])
def test_an_answer_is_kept_for_who_reads_on_and_for_nobody_else(
    models: Models, head: bytes
) -> None:
    limits = Limits(idle_timeout=1)
    body = json.dumps({"texts": ["word " * 200] * 12, "per": "token"}).encode()
    request = b"POST /embed HTTP/1.1\r\nhost: a\r\n" + head
    request += f"content-length: {len(body)}\r\n\r\n".encode() + body
    with serving(models, ServerSettings(quiet=True, limits=limits)) as server:
        place, size = ("127.0.0.1", server.port), len(server.post("/embed", body).body)
        with socket.create_connection(place, timeout=30) as steady:
            steady.sendall(request)
            answer = HTTPResponse(steady)
            answer.begin()
            found = b""
            while part := answer.read(size // 20):
                found += part
                time.sleep(0.15)  # three seconds in all
        with socket.create_connection(place, timeout=30) as idle:
            idle.sendall(request)
            answer = HTTPResponse(idle)
            answer.begin()
            time.sleep(2.5)
            with pytest.raises((IncompleteRead, ConnectionResetError)):
                answer.read()
    assert len(found) == size


def test_the_work_of_clients_that_leave_is_dropped(plain: Running) -> None:
    body = json.dumps({"texts": ["a rather long text " * 40] * 150}).encode()
    head = f"POST /embed HTTP/1.1\r\nhost: a\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    for left in range(3):
        with socket.create_connection(("127.0.0.1", plain.port)) as connection:
            connection.sendall(head + body)
            until(lambda: measure(plain, "malmoi_waiting_tokens") > 0)
        until(lambda: measure(plain, "malmoi_client_disconnects_total") > left)  # noqa: B023
    assert measure(plain, "malmoi_waiting_tokens") == 0


def test_overload_is_told_at_once_with_when_to_come_back(models: Models) -> None:
    limits = Limits(max_waiting_tokens=500)
    with (
        serving(models, ServerSettings(quiet=True, limits=limits)) as server,
        ThreadPoolExecutor(12) as p,
    ):
        asked = {"texts": ["several words of a text " * 8] * 20}
        found = list(p.map(lambda _: server.post("/embed", asked), range(24)))
    statuses = {one.status for one in found}
    assert statuses == {200, 503}
    for refused in (one for one in found if one.status == 503):
        assert int(refused.headers["retry-after"]) >= 1
        assert refused.json["error"]["code"] == "overloaded"


@pytest.mark.parametrize(
    "asked",
    [
        {"texts": ["word " * 100] * 3, "per": "token"},
        {"texts": ["word " * 100], "per": "word", "layers": "all", "layer_pooling": "sum"},
        {"texts": ["word"] * 50, "layers": "all", "layer_pooling": "concat"},
    ],
)
def test_an_answer_that_would_be_too_large_is_refused(
    models: Models, asked: dict[str, object]
) -> None:
    limits = Limits(max_answer_numbers=100_000)
    with serving(models, ServerSettings(quiet=True, limits=limits)) as server:
        found = server.post("/embed", asked)
        fewer = server.post("/embed", asked | {"texts": ["word"]})
    assert found.status == 400
    assert found.json["error"]["code"] == "answer_too_large"
    assert fewer.status == 200


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.01)


def measure(server: Running, name: str) -> float:
    lines = server.get("/metrics").body.decode().splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith(f"{name} "))


def test_bodies_that_are_too_many_together_are_refused(models: Models) -> None:
    limits = Limits(max_memory_bytes=1000, body_timeout=2)
    with serving(models, ServerSettings(quiet=True, limits=limits)) as server:
        head = b"POST /embed HTTP/1.1\r\nhost: a\r\ncontent-length: 900\r\n\r\n"
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as slow:
            slow.sendall(head)
            refused = server.post("/embed", {"texts": ["a" * 200]})
            for _ in range(100):
                if refused.status == 503:
                    break  # until then the other body is not expected yet
                refused = server.post("/embed", {"texts": ["a" * 200]})
            assert slow.recv(100).startswith(b"HTTP/1.1 408")
        assert server.post("/embed", {"texts": ["a" * 200]}).status == 200
    assert refused.status == 503
    assert refused.headers["retry-after"] == "1"


def test_answers_that_are_too_large_together_are_refused(models: Models) -> None:
    limits = Limits(max_memory_bytes=1_000_000)
    asked = {"texts": ["several words of a text " * 40] * 20, "per": "token", "layers": -1}
    with (
        serving(models, ServerSettings(quiet=True, limits=limits)) as server,
        ThreadPoolExecutor(2) as p,
    ):
        found = list(p.map(lambda _: server.post("/embed", asked), range(2)))
        assert server.post("/embed", asked).status == 200
    assert sorted(one.status for one in found) == [200, 503]
