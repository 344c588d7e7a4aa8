"""/v1/embeddings as OpenAI's: its own client, every kind of input, its errors."""

import base64
from collections.abc import Iterator

import numpy as np
import openai
import pytest

from malmoi.encode.encoder import TransformerEncoder
from malmoi.serve.server import ServerSettings
from malmoi.serve.service.loaded_models import Models
from tests.serve.fixtures import Running, serving

pytestmark = pytest.mark.filterwarnings("ignore:.*unknown tokens")  # Korean for English models

TEXTS = ["A man plays the guitar.", "한국의 수도는 서울이다.", "x"]


@pytest.fixture
def client(server: Running) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.address}/v1", api_key="none", max_retries=0)


def test_the_official_client_gets_the_librarys_vectors(
    client: openai.OpenAI, minilm: TransformerEncoder
) -> None:
    found = client.embeddings.create(model="minilm", input=TEXTS)
    rows = np.array([one.embedding for one in found.data])
    assert [one.index for one in found.data] == [0, 1, 2]
    np.testing.assert_allclose(rows, minilm.encode(TEXTS), atol=1e-6)
    assert found.model == "minilm"
    sizes = [len(pieces) for pieces in minilm.tokenizer(TEXTS)]
    assert found.usage.prompt_tokens == found.usage.total_tokens == sum(sizes)


@pytest.mark.parametrize("form", ["float", "base64"])
def test_both_formats_hold_the_same_numbers(
    server: Running, minilm: TransformerEncoder, form: str
) -> None:
    asked = {"model": "minilm", "input": TEXTS[0], "encoding_format": form}
    (found,) = server.post("/v1/embeddings", asked).json["data"]
    row = found["embedding"]
    if form == "base64":
        row = np.frombuffer(base64.b64decode(row), "<f4")
    np.testing.assert_allclose(row, minilm.encode(TEXTS[:1])[0], atol=1e-6)


@pytest.fixture
def allowing(models: Models) -> Iterator[Running]:
    with serving(models, ServerSettings(quiet=True, allow_token_ids=True)) as running:
        yield running


@pytest.mark.parametrize("given", [[101, 2023], [[101], [2023]], [1, "a"], [[]]])
def test_ids_of_tokens_are_refused_unless_they_are_allowed(
    server: Running, allowing: Running, given: list[object]
) -> None:
    asked = {"model": "minilm", "input": given}
    error = server.post("/v1/embeddings", asked).json["error"]
    assert error["code"] == "token_ids_not_allowed"
    assert "check_embedding_ctx_length=False" in error["message"]
    assert "--allow-token-ids" in error["message"]
    allowed = allowing.post("/v1/embeddings", asked)
    assert allowed.status == 200 or allowed.json["error"]["code"] == "invalid_request"


@pytest.mark.parametrize("given", [[[1], [10**6]], [[1], ["a"]], [[1], 1], [1, 2**70]])
def test_ids_that_are_none_are_refused(allowing: Running, given: list[object]) -> None:
    assert allowing.post("/v1/embeddings", {"model": "minilm", "input": given}).status == 400


def test_ids_of_tokens_are_texts_too(allowing: Running, minilm: TransformerEncoder) -> None:
    client = openai.OpenAI(base_url=f"{allowing.address}/v1", api_key="none", max_retries=0)
    pieces = minilm.tokenizer(TEXTS)
    bare = [one.ids[1:-1].tolist() for one in pieces]
    expected = minilm.encode(TEXTS)
    several = client.embeddings.create(model="minilm", input=bare)
    single = client.embeddings.create(model="minilm", input=bare[0])
    whole = client.embeddings.create(model="minilm", input=pieces[1].ids.tolist())
    rows = np.array([one.embedding for one in several.data])
    np.testing.assert_allclose(rows, expected, atol=1e-6)
    np.testing.assert_allclose(single.data[0].embedding, expected[0], atol=1e-6)
    np.testing.assert_allclose(whole.data[0].embedding, expected[1], atol=1e-6)


def test_fewer_dimensions_are_of_length_one(
    client: openai.OpenAI, minilm: TransformerEncoder
) -> None:
    found = client.embeddings.create(model="minilm", input=TEXTS, dimensions=64)
    rows = np.array([one.embedding for one in found.data])
    cut = minilm.encode(TEXTS)[:, :64]
    np.testing.assert_allclose(rows, cut / np.linalg.norm(cut, axis=1)[:, None], atol=1e-6)


def test_models_are_listed(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["minilm"]


def test_one_model_is_retrieved_by_its_name(client: openai.OpenAI) -> None:
    assert client.models.retrieve("minilm").id == "minilm"
    for other in ("gpt", "capitals/of/the/world"):
        with pytest.raises(openai.NotFoundError, match="does not exist"):
            client.models.retrieve(other)


def test_null_is_as_good_as_leaving_out(server: Running) -> None:
    nothing = dict.fromkeys(("encoding_format", "dimensions", "user"))
    found = server.post("/v1/embeddings", {"model": "minilm", "input": "a", **nothing})
    assert len(found.json["data"][0]["embedding"]) == 384


def test_an_unknown_model_is_not_found(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as refused:
        client.embeddings.create(model="gpt", input="a")
    assert refused.value.code == "model_not_found"
    assert refused.value.param == "model"
    assert refused.value.type == "invalid_request_error"


@pytest.mark.parametrize(
    ("change", "parameter"),
    [
        ({"input": ""}, "input"),
        ({"input": []}, "input"),
        ({"input": ["a", ""]}, "input"),
        ({"input": ["a", 5]}, "input"),
        ({"input": 5}, "input"),
        ({"input": [[1], [10**6]]}, "input"),
        ({"input": [-1]}, "input"),
        ({"dimensions": 0}, "dimensions"),
        ({"dimensions": 385}, "dimensions"),
        ({"encoding_format": "hex"}, "encoding_format"),
        ({"input": ["a"] * 2049}, "input"),
        ({"input": "a" * 200_001}, "input"),
    ],
)
def test_bad_requests_are_told_in_openais_shape(
    server: Running, change: dict[str, object], parameter: str | None
) -> None:
    found = server.post("/v1/embeddings", {"model": "minilm", "input": "a"} | change)
    assert found.status == 400
    error = found.json["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["param"] == parameter
    assert error["type"] == "invalid_request_error"


def test_long_texts_are_cut_off_and_that_is_told(
    server: Running, minilm: TransformerEncoder
) -> None:
    texts = ["word " * 400, "short"]
    found = server.post("/v1/embeddings", {"model": "minilm", "input": texts})
    assert found.headers["x-truncated-texts"] == "1"
    assert found.json["usage"]["prompt_tokens"] == 256 + 3
    with pytest.warns(UserWarning, match="1 of 2"):
        expected = minilm.encode(texts)
    rows = [one["embedding"] for one in found.json["data"]]
    np.testing.assert_allclose(rows, expected, atol=1e-6)
