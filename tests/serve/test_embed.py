"""/embed: every recipe, words and tokens with their offsets; equal to the library's."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from unicodedata import normalize

import numpy as np
import pytest

from malmoi.encode.encoder import TransformerEncoder
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.runtime.engine import can_compile
from malmoi.serve.service.loaded_models import Models, load_model
from malmoi.vectors import l2_normalize
from tests.serve.fixtures import Running, serving

pytestmark = pytest.mark.filterwarnings("ignore:.*unknown tokens")  # Korean for English models

TEXTS = ["The bank of the river.", "한국의 수도는 서울이다.", "x", "unbelievably tokenized words"]


def assert_equal(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, atol=1e-6, rtol=1e-6)


def rows(server: Running, **asked: Any) -> Any:
    found = server.post("/embed", {"texts": TEXTS} | asked)
    assert found.status == 200, found.body
    return np.array(found.json["embeddings"], np.float32)


def test_without_a_recipe_vectors_are_the_models_own(
    server: Running, minilm: TransformerEncoder
) -> None:
    assert_equal(rows(server), minilm.encode(TEXTS))


@pytest.mark.skipif(not can_compile(), reason="this processor has no AVX2 with FMA")
def test_a_quantized_model_is_the_librarys_alone_and_in_company() -> None:
    model = load_model("rounded", "minilm:quantized")
    assert model.encoder is not None
    expected = model.encoder.encode(TEXTS)
    with serving(Models({"rounded": model})) as server:
        assert_equal(rows(server), expected)
        with ThreadPoolExecutor(8) as pool:
            for found in pool.map(lambda _: rows(server), range(24)):
                assert_equal(found, expected)


@pytest.mark.parametrize(
    "recipe",
    [
        {"layers": -2, "pool": "max"},
        {"layers": [0, 3], "layer_pooling": "mean", "pool": "cls"},
        {"layers": "-4:", "layer_pooling": "concat", "pool": "mean_sqrt"},
        {"layers": "all", "layer_pooling": "sum", "pool": "last"},
        {"recipe": "bert-as-service"},
        {"recipe": "last-four-concat", "pool": "first"},
    ],
)
def test_a_recipe_is_the_librarys(
    server: Running, minilm: TransformerEncoder, recipe: dict[str, Any]
) -> None:
    assert_equal(rows(server, **recipe), minilm.encode(TEXTS, **recipe))


def test_weights_scale_and_special_tokens(server: Running, minilm: TransformerEncoder) -> None:
    recipe = Recipe(
        layers=(1, 4),
        layer_pooling="weighted",
        weights=(0.5, -1.0),
        scale=2.0,
        include_special_tokens=False,
    )
    request = {"layers": [1, 4], "layer_pooling": "weighted", "weights": [0.5, -1], "scale": 2}
    answered = rows(server, **request, include_special_tokens=False)
    assert_equal(answered, minilm.encode(TEXTS, recipe=recipe))


def test_vectors_can_be_of_length_one(server: Running, minilm: TransformerEncoder) -> None:
    expected = l2_normalize(minilm.encode(TEXTS, layers=-2))
    assert_equal(rows(server, layers=-2, normalize=True), expected)


@pytest.mark.parametrize("word_pooling", ["mean", "sum", "first", "last"])
def test_words_come_with_their_offsets(
    server: Running, minilm: TransformerEncoder, word_pooling: Any
) -> None:
    recipe = {"layers": "-2:", "layer_pooling": "sum", "word_pooling": word_pooling}
    answer = server.post("/embed", {"texts": TEXTS, "per": "word"} | recipe).json["texts"]
    expected = minilm.activations(TEXTS).words(**recipe)
    for text, sent, words in zip(answer, TEXTS, expected, strict=True):
        assert text["text"] == sent
        assert [one["word"] for one in text["words"]] == list(words.keys)
        for one in text["words"]:
            assert sent[one["begin"] : one["end"]] == one["word"]
        assert_equal([w["vector"] for w in text["words"]], words.matrix)


def test_tokens_of_pairs_have_sequence_ids(server: Running, minilm: TransformerEncoder) -> None:
    asked = {"texts": [["a bank", "no river"]], "per": "token"}
    (found,) = server.post("/embed", asked).json["texts"]
    (expected,) = minilm.activations([("a bank", "no river")]).tokens()
    assert [one["token"] for one in found["tokens"]] == list(expected.keys)
    assert [one["sequence_id"] for one in found["tokens"]] == [-1, 0, 0, -1, 1, 1, -1]
    assert found["pair"] == "no river"
    vectors = [one["vector"] for one in found["tokens"]]
    assert_equal(vectors, expected.matrix)


def test_offsets_refer_to_the_normalized_text(server: Running) -> None:
    apart = "한국의 bank"  # its Hangul in letters: NFD
    asked = {"texts": [normalize("NFD", apart)], "per": "word"}
    (found,) = server.post("/embed", asked).json["texts"]
    assert found["text"] == apart
    assert found["words"][-1]["word"] == "bank"
    assert (found["words"][-1]["begin"], found["words"][-1]["end"]) == (4, 8)


def test_long_texts_are_truncated_or_rejected(server: Running) -> None:
    texts = ["short", "word " * 300]
    found = server.post("/embed", {"texts": texts})
    assert found.json["truncated"] == [1]
    refused = server.post("/embed", {"texts": texts, "truncate": False})
    assert refused.status == 400
    assert "text 1 is longer than the 256 tokens" in refused.json["error"]["message"]


def test_a_text_without_tokens_has_a_vector_too(
    server: Running, minilm: TransformerEncoder
) -> None:
    found = server.post("/embed", {"texts": ["", " "]}).json["embeddings"]
    with pytest.warns(UserWarning, match="empty"):
        expected = minilm.encode(["", " "])
    assert_equal(found, expected)


def test_answers_do_not_depend_on_what_they_were_batched_with(
    server: Running, minilm: TransformerEncoder
) -> None:
    long = " ".join(["A rather long sentence that goes on and on about banks."] * 6)
    sets = [[f"text number {i}", long[: 40 * (i % 8) + 5], TEXTS[i % 4]] for i in range(32)]
    recipes: list[dict[str, Any]] = [
        {},
        {"layers": -2, "pool": "mean"},
        {"layers": "-4:", "layer_pooling": "concat"},
        {"layers": -2, "pool": "max"},
    ]
    asked = [{"texts": texts} | recipes[i % 4] for i, texts in enumerate(sets)]
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(partial(server.post, "/embed"), asked))
    for i, answer in enumerate(found):
        expected = minilm.encode(sets[i], **recipes[i % 4])
        assert_equal(answer.json["embeddings"], expected)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"layers": 9}, "layer 9"),
        ({"layers": "x"}, "layers"),
        ({"layers": []}, "layer"),
        ({"layers": "-2:"}, "needs one layer, not 2"),
        ({"layer_pooling": "blend"}, "in 'layer_pooling': Invalid enum value 'blend': choose"),
        ({"pool": "median"}, "'pool'"),
        ({"mix": "sum"}, "unknown field mix; it is now called layer_pooling"),
        ({"join": "sum"}, "unknown field join; it is now called word_pooling"),
        ({"special": True}, "unknown field special; it is now called include_special_tokens"),
        ({"per": "piece"}, "Invalid enum value 'piece': choose one of text, token, word"),
        ({"recipe": "soup"}, "'soup'"),
        ({"layers": [1, 2], "layer_pooling": "weighted"}, "weights"),
        ({"per": "letter"}, "'per'"),
        ({"prompt": "query"}, "prompt 'query'"),
        ({"per": "word", "prompt": "query"}, "prompt"),
        ({"layer": -2}, "unknown field layer"),
        ({"texts": []}, "length >= 1"),
        ({"texts": [["a", "b", "c"]]}, "length <= 2"),
        ({"model": "capitals"}, "'capitals' cannot embed texts"),
    ],
)
def test_an_invalid_recipe_is_rejected_with_one_sentence(
    server: Running, change: dict[str, Any], sentence: str
) -> None:
    found = server.post("/embed", {"texts": ["a"]} | change)
    assert found.status == 400
    message = found.json["error"]["message"]
    assert sentence in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/embed", {"texts": ["환불을 받고 싶어요", "hello there"]}),
        ("/embed", {"texts": ["환불을 받고 싶어요", "hello there"], "per": "word"}),
        ("/v1/embeddings", {"model": "minilm", "input": ["환불을 받고 싶어요", "hello there"]}),
        ("/encode", {"id": 1, "texts": ["환불을 받고 싶어요", "hello there"]}),
    ],
)
def test_fragmented_texts_are_counted_in_a_header(
    path: str, asked: dict[str, Any], server: Running
) -> None:
    found = server.post(path, asked)
    assert found.status == 200
    assert found.headers["x-fragmented-texts"] == "1"


def test_english_texts_have_no_such_header(server: Running) -> None:
    found = server.post("/embed", {"texts": ["hello there", "😀 😀 😀 nice"]})
    assert "x-fragmented-texts" not in found.headers


def test_encoders_without_layers_count_their_inputs_too() -> None:
    with serving(Models({"use": load_model("use", "use")})) as server:
        texts = ["hello there", "한국어 문장", "ᚠᚢᚦ ᚨᚱᚲ ᚷᚹᚺ", "word " * 5000]
        answer = server.post("/embed", {"texts": texts})
        assert answer.headers["x-fragmented-texts"] == "1"
        assert answer.headers["x-truncated-texts"] == "1"
        assert answer.json["truncated"] == [3]
        assert server.post("/embed", {"texts": texts, "truncate": False}).status == 400
