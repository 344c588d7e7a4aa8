"""The client does what BertClient did; /encode answers whoever asks as its clients do."""

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from malmoi.client import Client, FetchedTokens, ServerError, ServerUnreachableError
from malmoi.client.client import MAX_PENDING_REQUESTS, TextBatch
from malmoi.encode.encoder import TransformerEncoder
from malmoi.errors import InvalidArgumentError
from tests.serve.fixtures import Running

TEXTS = ["First do it", "then do it right", "then do it better"]


@pytest.fixture
def client(server: Running) -> Iterator[Client]:
    with Client("127.0.0.1", server.port) as client:
        yield client


def encoded(client: Client, texts: TextBatch, **options: bool) -> Any:
    return client.encode(texts, **options)


def test_vectors_are_the_last_layer_but_one_averaged(
    client: Client, minilm: TransformerEncoder
) -> None:
    found = encoded(client, TEXTS)
    assert isinstance(found, np.ndarray)
    expected = minilm.encode(TEXTS, recipe="bert-as-service")
    np.testing.assert_allclose(found, expected, atol=1e-6, rtol=1e-6)


def test_the_http_answer_has_both_names_and_the_id(server: Running) -> None:
    found = server.post("/encode", {"id": 123, "texts": TEXTS, "is_tokenized": False}).json
    assert found["id"] == 123
    assert found["status"] == 200
    assert found["result"] == found["results"]
    assert len(found["result"]) == 3


def test_pairs_are_written_with_three_bars(client: Client, minilm: TransformerEncoder) -> None:
    found = encoded(client, ["First do it ||| then do it right"])
    expected = minilm.encode([("First do it", "then do it right")], recipe="bert-as-service")
    np.testing.assert_allclose(found, expected, atol=1e-6, rtol=1e-6)


def test_texts_that_are_cut_already_are_taken_as_they_are(
    client: Client, minilm: TransformerEncoder
) -> None:
    pieces = [["first", "do", "it"], ["play", "##ing", "qwzzx"]]
    found, tokens = encoded(client, pieces, is_tokenized=True, show_tokens=True)
    assert tokens == [
        ["[CLS]", "first", "do", "it", "[SEP]"],
        ["[CLS]", "play", "##ing", "[UNK]", "[SEP]"],
    ]
    expected = minilm.encode(["First do it"], recipe="bert-as-service")
    np.testing.assert_allclose(found[:1], expected, atol=1e-6, rtol=1e-6)


def test_many_texts_need_no_batching_by_the_caller(
    client: Client, minilm: TransformerEncoder
) -> None:
    texts = [f"text {number}" for number in range(300)]
    found = encoded(client, texts)
    expected = minilm.encode(texts, recipe="bert-as-service")
    np.testing.assert_allclose(found, expected, atol=1e-6, rtol=1e-6)


def test_without_blocking_answers_are_fetched(client: Client) -> None:
    for text in TEXTS:
        assert client.encode([text], blocking=False) is None
    assert client.status["num_pending_request"] == 3
    found = {one.id: one.embedding for one in client.fetch()}
    assert sorted(found) == [1, 2, 3]
    expected = encoded(client, TEXTS)
    for place, number in enumerate(sorted(found)):
        np.testing.assert_allclose(found[number][0], expected[place], atol=1e-6)
    assert client.status["num_pending_request"] == 0


def test_all_can_be_fetched_in_order(client: Client) -> None:
    for text in TEXTS:
        client.encode([text], blocking=False)
    found = client.fetch_all(concat=True)
    np.testing.assert_allclose(found, encoded(client, TEXTS), atol=1e-6)


def test_a_generator_of_texts_is_encoded_as_it_comes(client: Client) -> None:
    batches = ([f"{i} {j}" for j in range(3)] for i in range(100))
    found = {one[0]: one[1] for one in client.encode_async(batches, 5, delay=0)}
    assert sorted(found) == [1, 2, 3, 4, 5]
    assert all(rows.shape == (3, 384) for rows in found.values())


def test_what_is_fetched_has_names(client: Client) -> None:
    client.encode(TEXTS, blocking=False, show_tokens=True)
    (found,) = client.fetch()
    assert isinstance(found, FetchedTokens)
    assert found.id == 1
    assert np.shape(found.embedding) == (3, 384)
    assert [len(one) for one in found.tokens] == [5, 6, 6]
    assert client.fetch_all(concat=True) is None


def test_a_generator_that_fails_is_not_taken_for_its_end(client: Client) -> None:
    def batches() -> Iterator[list[str]]:
        yield ["good"]
        yield [" "]

    found = client.encode_async(batches(), delay=0)
    assert next(found).id == 1
    with pytest.raises(InvalidArgumentError, match="text 0 is empty"):
        next(found)


def test_a_generator_is_not_run_far_ahead(client: Client) -> None:
    taken = 0

    def batches() -> Iterator[list[str]]:
        nonlocal taken
        for _ in range(1000):
            taken += 1
            yield ["text"]

    found = client.encode_async(batches(), delay=0)
    next(found)
    time.sleep(0.3)
    assert 1 <= taken <= MAX_PENDING_REQUESTS + 1


class Other(BaseHTTPRequestHandler):
    """A server that is too busy, says so by a date, or is not ours."""

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        status, head, body = {
            "busy": (503, "3600", b'{"description": "busy"}'),
            "date": (503, "Wed, 21 Oct 2099 07:28:00 GMT", b""),
        }.get(self.headers["authorization"].split()[-1], (502, "", b"<html>"))
        self.send_response(status)
        self.send_header("retry-after", head)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.mark.parametrize(
    ("what", "timeout", "kind", "sentence"),
    [
        ("busy", 9000, TimeoutError, "overloaded: no answer in 9000 ms"),
        ("date", 900, TimeoutError, "overloaded: no answer in 900 ms"),
        ("page", 60_000, ServerError, "answers 502 with no JSON"),
    ],
)
def test_other_answers_are_told_and_end(
    what: str, timeout: int, kind: type[Exception], sentence: str
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        with pytest.raises(kind, match=sentence):
            Client("127.0.0.1", other.server_port, timeout=timeout, api_key=what)
        other.shutdown()


def test_an_answer_that_takes_too_long_is_a_timeout(server: Running) -> None:
    with (
        Client("127.0.0.1", server.port, timeout=1, ignore_all_checks=True) as client,
        pytest.raises(TimeoutError, match="no answer in 1 ms"),
    ):
        client.encode(["word " * 200] * 50)


def test_lists_tokens_and_lengths(server: Running) -> None:
    with Client("127.0.0.1", server.port, output_fmt="list") as client:
        found = client.encode(TEXTS[:1])
        assert isinstance(found, list)
        assert client.tokens(TEXTS[:1]) == [["[CLS]", "first", "do", "it", "[SEP]"]]
        assert client.lengths(TEXTS) == [5, 6, 6]


def test_status_says_what_clients_look_for(client: Client) -> None:
    encoded(client, TEXTS)
    assert client.server_status["max_seq_len"] == 256
    assert client.server_status["pooling_layer"] == [-2]
    assert client.status["num_request"] == 1
    assert client.status["server_ip"] == "127.0.0.1"


def test_texts_that_the_model_only_spells_are_told(client: Client) -> None:
    with pytest.warns(UserWarning, match="1 of 2 texts are mostly words that the model knows only"):
        client.encode(["환불을 받고 싶어요", "hello"])


def test_long_texts_are_told(client: Client) -> None:
    with pytest.warns(UserWarning, match="1 of 2 texts are longer"):
        client.encode(["a", "word " * 300])


@pytest.mark.parametrize(
    ("texts", "tokenized", "sentence"),
    [
        ("one", False, "must be a list"),
        ([], False, "texts is empty"),
        ([1], False, "text 0 must be a string"),
        (["a", " "], False, "text 1 is empty"),
        (["a"], True, "list of tokens"),
    ],
)
def test_what_bertclient_refuses_is_refused(
    client: Client, texts: list[str], tokenized: bool, sentence: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=sentence):
        client.encode(texts, is_tokenized=tokenized)


def test_no_server_and_no_model_are_told(server: Running) -> None:
    with pytest.raises(ServerUnreachableError, match="does not answer"):
        Client("127.0.0.1", 1)
    with (
        Client("127.0.0.1", server.port, model="nobody") as client,
        pytest.raises(ServerError, match="model 'nobody' does not exist") as refused,
    ):
        client.encode(["a"])
    assert refused.value.status == 404
