"""Code written for bert-as-service: the name and the arguments of its client, and mistakes."""

from typing import Any

import numpy as np
import pytest

import malmoi as mm
from malmoi.client import BertClient, Client
from malmoi.encode.encoder import TransformerEncoder
from malmoi.errors import InvalidArgumentError, MalmoiWarning
from tests.serve.fixtures import Running

TEXTS = ["First do it", "then do it right", "then do it better"]


def test_a_program_for_bert_as_service_runs(server: Running, minilm: TransformerEncoder) -> None:
    with BertClient(
        ip="localhost",
        port=server.port,
        output_fmt="ndarray",
        show_server_config=False,
        identity="me",
        check_version=False,
        check_length=True,
        check_token_info=False,
        timeout=10_000,
    ) as client:
        vectors = client.encode(TEXTS, blocking=True, is_tokenized=False, show_tokens=False)
        expected = minilm.encode(TEXTS, recipe="bert-as-service")
        np.testing.assert_allclose(np.asarray(vectors), expected, atol=1e-6, rtol=1e-6)
        assert client.status["identity"] == "me"


def test_positional_arguments_are_those_of_bert_as_service(server: Running) -> None:
    client = BertClient("localhost", server.port)
    result = client.encode([["first", "do", "it"]], True, True, True)
    assert result is not None
    vectors, tokens = result
    assert np.shape(vectors) == (1, 384)
    assert tokens == [["[CLS]", "first", "do", "it", "[SEP]"]]
    client.close()


def test_it_is_the_client_under_another_name() -> None:
    assert BertClient is Client is mm.Client is mm.BertClient


def test_a_second_port_is_not_used_and_says_so(server: Running) -> None:
    with (
        pytest.warns(MalmoiWarning, match="port_out=5556 is not used: requests and answers share"),
        BertClient(port=server.port, port_out=5556) as client,
    ):
        assert client.status["port_out"] == 5556


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"ip": "http://localhost:8080"}, "ip is 'http://localhost:8080': give a host name"),
        ({"ip": "localhost:8080"}, "ip is 'localhost:8080': give a host name"),
        ({"ip": None}, "ip is None: give a host name"),
        ({"port": "8080"}, "port must be an integer; got '8080'"),
        ({"port": 0}, "port must be from 1 to 65535; got 0"),
        ({"timeout": None}, "timeout must be an integer; got None"),
        ({"output_fmt": "tensor"}, "output_fmt must be one of ndarray, list; got 'tensor'"),
    ],
)
def test_arguments_that_are_not_valid(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidArgumentError, match=sentence):
        BertClient(**options)
