"""The client does what BertClient did; /encode answers whoever asks as its clients do."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from malmoi.client import Client, ServerRefused, Texts, Unreachable
from malmoi.encode.encoder import ContextualEncoder
from malmoi.errors import BadSetting
from tests.serve.worlds import Running

TEXTS = ["First do it", "then do it right", "then do it better"]


@pytest.fixture
def client(server: Running) -> Iterator[Client]:
    with Client("127.0.0.1", server.port) as client:
        yield client


def encoded(client: Client, texts: Texts, **options: bool) -> Any:
    return client.encode(texts, **options)


def test_vectors_are_the_last_layer_but_one_averaged(
    client: Client, minilm: ContextualEncoder
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


def test_pairs_are_written_with_three_bars(client: Client, minilm: ContextualEncoder) -> None:
    found = encoded(client, ["First do it ||| then do it right"])
    expected = minilm.encode([("First do it", "then do it right")], recipe="bert-as-service")
    np.testing.assert_allclose(found, expected, atol=1e-6, rtol=1e-6)


def test_texts_that_are_cut_already_are_taken_as_they_are(
    client: Client, minilm: ContextualEncoder
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
    client: Client, minilm: ContextualEncoder
) -> None:
    texts = [f"text {number}" for number in range(300)]
    found = encoded(client, texts)
    expected = minilm.encode(texts, recipe="bert-as-service")
    np.testing.assert_allclose(found, expected, atol=1e-6, rtol=1e-6)


def test_without_blocking_answers_are_fetched(client: Client) -> None:
    for text in TEXTS:
        assert client.encode([text], blocking=False) is None
    assert client.status["num_pending_request"] == 3
    found = dict(client.fetch())
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
    found = dict(client.encode_async(batches, max_num_batch=5, delay=0))
    assert sorted(found) == [1, 2, 3, 4, 5]
    assert all(rows.shape == (3, 384) for rows in found.values())


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


def test_long_texts_are_told(client: Client) -> None:
    with pytest.warns(UserWarning, match="1 of 2 texts are too long"):
        client.encode(["a", "word " * 300])


@pytest.mark.parametrize(
    ("texts", "tokenized", "sentence"),
    [
        ("one", False, "must be a list"),
        ([], False, "at least one"),
        ([1], False, "text 0 must be a string"),
        (["a", " "], False, "text 1 is empty"),
        (["a"], True, "list of pieces"),
    ],
)
def test_what_bertclient_refuses_is_refused(
    client: Client, texts: list[str], tokenized: bool, sentence: str
) -> None:
    with pytest.raises(BadSetting, match=sentence):
        client.encode(texts, is_tokenized=tokenized)


def test_no_server_and_no_model_are_told(server: Running) -> None:
    with pytest.raises(Unreachable, match="does not answer"):
        Client("127.0.0.1", 1)
    with (
        Client("127.0.0.1", server.port, model="nobody") as client,
        pytest.raises(ServerRefused, match="there is no model 'nobody'") as refused,
    ):
        client.encode(["a"])
    assert refused.value.status == 404
