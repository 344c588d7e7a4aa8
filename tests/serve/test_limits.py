"""Each limit has its sentence; limits on what a connection sends."""

import json
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from malmoi.serve.http.api_errors import ApiError
from malmoi.serve.http.request_body import (
    SCAN_BYTES,
    check_num_values,
    count_values,
    scan_bounds,
    strip_strings,
)
from malmoi.serve.limits import Limits
from malmoi.serve.server import ServerSettings
from malmoi.serve.service.errors import RequestError
from malmoi.serve.service.loaded_models import Models
from malmoi.serve.service.request_texts import check_finite, stack_finite
from tests.serve.fixtures import Running, serving

HEAD = b"POST /tokenize HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n"


@pytest.mark.parametrize(
    ("path", "asked", "sentence"),
    [
        ("/neighbours", {"word": "a" * 2_000_000}, "2,000,000 characters: at most 1,000 are"),
        ("/similarity", {"model": "capitals", "a": "한국", "b": "a" * 1001}, "the word has"),
        ("/analogy", {"expression": "a + " * 200_000 + "a"}, "the expression has 800,001"),
        ("/analogy", {"expression": "a + " * 100 + "a"}, "101 words: at most 100 are allowed"),
        ("/analogy", {"expression": "a + " + "b" * 5000}, "the word has 5,000 characters"),
        ("/embed", {"texts": ["a"] * 2049}, "2,049 texts: at most 2,048 are allowed"),
        ("/embed", {"texts": ["a"] * 300_001}, "more than 300,000 values: send fewer"),
        ("/embed", {"texts": [["a", "b"]] * 3000}, "more than 2,112 lists: send fewer texts"),
        ("/embed", {"texts": ["a"], "layers": " " * 60_000}, "invalid request in 'layers'"),
        ("/embed", {"texts": ["a"], "layers": "9" * 900 + ":"}, "is not a choice of layers"),
        ("/embed", {"texts": ["a"], "layers": [0] * 500}, "layers has 500 entries"),
        ("/embed", {"texts": ["a"], "layers": 2**70}, "invalid request in 'layers'"),
        ("/embed", {"texts": ["a"], "model": "m" * 1_000_000}, "choose one of minilm, capitals"),
        ("/encode", {"texts": ["a"], "id": 2**70}, "invalid request in 'id'"),
        ("/encode", {"texts": [["a"] * 300_001], "is_tokenized": True}, "more than 300,000 values"),
    ],
)  # fmt: skip
def test_each_limit_has_its_sentence(
    server: Running, path: str, asked: dict[str, Any], sentence: str
) -> None:
    answer = server.post(path, asked)
    message = answer.json.get("description") or answer.json["error"]["message"]
    assert answer.status in (400, 404)
    assert sentence in message
    assert len(message) < 1100


@pytest.mark.parametrize("per", ["text", "word", "token"])
@pytest.mark.parametrize(
    "change",
    [{"scale": 1e308}, {"scale": -1e308}, {"scale": 3e38}, {"weights": [1e308, -1e308]},
     {"weights": [1e308, 1e308], "scale": 1e300}, {"scale": 1e18, "normalize": True}],
)  # fmt: skip
def test_no_answer_holds_null_for_a_number(
    server: Running, per: str, change: dict[str, object]
) -> None:
    asked = {"texts": ["a b"], "layers": "-2:", "layer_pooling": "weighted"} | {
        "weights": [1, 1],
        "per": per,
    }
    found = server.post("/embed", asked | change)
    assert found.status in (200, 400)
    assert "null" not in found.body.decode()


def test_vectors_that_a_model_makes_infinite_are_refused() -> None:
    rows = np.ones((2, 3), np.float32)
    check_finite(rows)
    rows[1, 2] = np.inf
    with pytest.raises(RequestError, match="nan or infinity"):
        stack_finite(list(rows))


def test_a_text_may_hold_any_number_of_commas(server: Running) -> None:
    text = '[{"a": [1, 2, "\\\\"], ' * 7000
    assert server.post("/tokenize", {"texts": [text] * 20}).status == 200


@pytest.mark.parametrize("end", ["", "a", "\\", '\\"', "é", "[,{"])
def test_only_what_stands_outside_of_strings_is_counted(end: str) -> None:
    for pad in range(SCAN_BYTES - 40, SCAN_BYTES + 40):
        value: Any = {"texts": ["x" * pad + end * 9 + "]", ["a,b", end, {"k": [1, 2]}]], "n": 5}
        body = json.dumps(value).encode()
        inside, outside = False, b""
        for start, stop in scan_bounds(body):
            part, inside = strip_strings(body[start:stop], inside)
            outside += part
        assert outside == b"{: [, [, , {: [1, 2]}]], : 5}"
        assert not inside
    assert count_values(outside) == (10, 5)


def test_values_are_counted_before_they_are_made() -> None:
    limits = Limits(max_json_values=10, max_texts=2)
    check_num_values(b'["' + b"," * 1000 + b'"]', limits)
    with pytest.raises(ApiError, match="more than 10 values"):
        check_num_values(b"[" + b"1," * 10 + b"1]", limits)
    with pytest.raises(ApiError, match="more than 66 lists"):
        check_num_values(b"[" * 67, Limits(max_json_values=1000, max_texts=2))


def exchange(server: Running, sent: bytes) -> bytes:
    """All that is answered until the server hangs up, or answers no more for a while."""
    found = b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65_536):
                found += part
        except OSError:  # it hung up, or answers no more
            pass
    return found


def answer_to(server: Running, sent: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(sent)
        return connection.recv(65_536)


def test_a_key_in_a_trailer_is_no_key(models: Models, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("secret\n", encoding="utf-8")
    body = b'{"texts": ["a"]}'
    chunk, key = b"%x\r\n%s\r\n" % (len(body), body), b"authorization: Bearer secret\r\n"
    with serving(models, ServerSettings(quiet=True, api_key_file=tmp_path / "keys")) as locked:
        trailing = answer_to(locked, HEAD + b"\r\n" + chunk + b"0\r\n" + key + b"\r\n")
        leading = answer_to(locked, HEAD + key + b"\r\n" + chunk + b"0\r\nx: y\r\n\r\n")
    assert trailing.startswith(b"HTTP/1.1 401")
    assert leading.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "sent",
    [
        HEAD + b"\r\n" + b"1\r\n \r\n" * 20_000,
        HEAD + b"\r\n1\r\n \r\n0\r\nx: " + b"y" * 3_000_000,
        HEAD + b"\r\n1;" + b"x" * 3_000_000,
        b"GET /health HTTP/1.1\r\nhost: a\r\n\r\n" * 5000,
    ],
    ids=["tiny chunks", "long trailers", "long extensions", "pipelined"],
)
def test_framing_without_an_end_is_left(server: Running, sent: bytes) -> None:
    found = exchange(server, sent)
    assert found.count(b"HTTP/1.1 ") < 100
    assert server.get("/health").status == 200


def test_a_few_requests_may_be_pipelined(server: Running) -> None:
    ask, last = b"GET /health HTTP/1.1\r\nhost: a\r\n", b"connection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall((ask + b"\r\n") * 9 + ask + last)
        found = b""
        while part := connection.recv(65_536):
            found += part
    assert found.count(b"HTTP/1.1 200") == 10
