"""Whatever answers a client, it has vectors to give or one sentence."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numpy as np
import pytest

import malmoi.client.connection
from malmoi.client import Client
from malmoi.errors import MalmoiError

OK = b"HTTP/1.1 200 OK\r\n"


def answered(body: bytes, head: bytes = OK) -> bytes:
    return head + b"content-length: %d\r\n\r\n" % len(body) + body


ANSWERS = {
    "nothing": b"",
    "no HTTP": b"220 mail ready\r\n",
    "half a head": OK + b"content-le",
    "half a body": OK + b'content-length: 100\r\n\r\n{"result": [[1',
    "half a chunk": OK + b"transfer-encoding: chunked\r\n\r\n40\r\n{",
    "no chunk": OK + b"transfer-encoding: chunked\r\n\r\nzz\r\n",
    "a huge length": OK + b"content-length: " + b"9" * 18 + b"\r\n\r\n{}",
    "an odd length": OK + b"content-length: abc\r\n\r\nhello",
    "no JSON": answered(b"<html>hello</html>"),
    "no UTF-8": answered(b'{"result": "\xff"}'),
    "deep": answered(b"[" * 200_000),
    "a long number": answered(b'{"result": ' + b"9" * 5000 + b"}"),
    "a list": answered(b"[1]"),
    "null": answered(b"null"),
    "no result": answered(b"{}"),
    "a result that is no list": answered(b'{"result": 5}'),
    "too few": answered(b'{"result": []}'),
    "too many": answered(b'{"result": [[1], [2]]}'),
    "texts": answered(b'{"result": [["a"]]}'),
    "null among numbers": answered(b'{"result": [[1, null]]}'),
    "NaN": answered(b'{"result": [[NaN]]}'),
    "a number alone": answered(b'{"result": [1]}'),
    "objects": answered(b'{"result": [{}]}'),
    "a redirect": answered(b"", b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\n"),
    "a redirect with JSON": answered(b"{}", b"HTTP/1.1 307 X\r\nlocation: /\r\n"),
    "an error that is a list": answered(b"[]", b"HTTP/1.1 400 Bad\r\n"),
    "an error that is text": answered(b'{"error": "no"}', b"HTTP/1.1 500 Bad\r\n"),
    "an error without words": answered(b'{"error": {"message": 5}}', b"HTTP/1.1 400 Bad\r\n"),
    "an error of many lines": answered(
        json.dumps({"description": "a\nb" * 9000}).encode(), b"HTTP/1.1 400 Bad\r\n"
    ),
    "many headers": OK + b"x: y\r\n" * 1000 + b"\r\n",
    "a long header": OK + b"x: " + b"y" * 100_000 + b"\r\n\r\n",
}


def read_request(connection: socket.socket) -> None:
    """All of a request: closing a socket with bytes unread would reset the connection."""
    with connection.makefile("rb") as request:
        length = 0
        while (line := request.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        request.read(length)


@contextmanager
def answering(answer: bytes) -> Iterator[Client]:
    """A client whose server says the same to whatever it is asked, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection, suppress(OSError):  # the client may leave first
                    connection.settimeout(60)
                    read_request(connection)
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        port = listening.getsockname()[1]
        try:
            with Client("127.0.0.1", port, ignore_all_checks=True, timeout=60_000) as client:
                yield client
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


@pytest.mark.parametrize("what", ANSWERS)
def test_a_hostile_answer_is_one_sentence(what: str) -> None:
    with answering(ANSWERS[what]) as client, pytest.raises(MalmoiError) as refused:
        client.encode(["a"])
    assert len(str(refused.value).splitlines()) == 1
    assert len(str(refused.value)) < 1100


@pytest.mark.parametrize("what", ["no JSON", "a list", "no result"])
def test_hostile_answers_to_other_questions_are_one_sentence_too(what: str) -> None:
    with answering(ANSWERS[what]) as client:
        for question in (client.lengths, client.tokens):
            with pytest.raises(MalmoiError):
                question(["a"])


def test_odd_headers_are_no_numbers() -> None:
    head = OK + b"x-truncated-texts: many\r\n"
    with answering(answered(b'{"result": [[1.5]]}', head)) as client:
        found = client.encode(["a"])
    assert isinstance(found, np.ndarray)
    assert found.tolist() == [[1.5]]


def test_an_answer_without_an_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(malmoi.client.connection, "MAX_ANSWER_BYTES", 1000)
    endless = OK + b"\r\n" + b"a" * 5000
    with answering(endless) as client, pytest.raises(MalmoiError, match="more than 1,000 bytes"):
        client.encode(["a"])
