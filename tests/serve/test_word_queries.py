"""Questions to vectors over HTTP are answered as by the library."""

from collections.abc import Iterator
from urllib.parse import quote

import numpy as np
import pytest

from malmoi.encode.encoder import TransformerEncoder
from malmoi.query.analogy import analogy
from malmoi.query.compare import similarity
from malmoi.query.neighbours import neighbours
from malmoi.serve.service.loaded_models import LoadedModel, Models
from malmoi.train.word2vec.fasttext import FastText, train_fasttext
from tests.query.worlds import capitals
from tests.serve.fixtures import Running, serving

WORD = "한국"
LINES = ["fishing boat on the lake", "a boat for fishing", "the lake and the boat"] * 20


@pytest.fixture(scope="module")
def fishing() -> Iterator[Running]:
    settings = FastText(dim=4, epochs=1, min_count=1, subsample=0, threads=1)
    words = LoadedModel("fishing", "fishing.malmoi", vectors=train_fasttext(LINES, settings))
    with serving(Models({"fishing": words})) as running:
        yield running


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "dot"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_neighbours_are_the_librarys(server: Running, metric: str, method: str) -> None:
    asked = {"model": "capitals", "word": WORD, "k": 3, "metric": metric}
    query = "&".join(f"{name}={quote(str(value))}" for name, value in asked.items())
    by_get = server.get(f"/neighbours?{query}")
    found = by_get if method == "GET" else server.post("/neighbours", asked)
    expected = neighbours(capitals(), WORD, 3, metric=metric)  # type: ignore[call-overload]
    answers = found.json["neighbours"]
    assert [one["key"] for one in answers] == [one.key for one in expected]
    np.testing.assert_allclose(
        [one["score"] for one in answers], [one.score for one in expected], rtol=1e-6
    )


def test_an_analogy_is_the_librarys(server: Running) -> None:
    expression = "한국 - 서울 + 도쿄"
    found = server.get(f"/analogy?model=capitals&k=2&expression={quote(expression)}")
    expected = analogy(capitals(), expression, 2)
    assert [one["key"] for one in found.json["answers"]] == [one.key for one in expected]
    posted = server.post("/analogy", {"expression": expression, "k": 2})
    assert posted.json == found.json


def test_words_and_texts_have_a_similarity(server: Running, minilm: TransformerEncoder) -> None:
    asked = {"model": "capitals", "a": "한국", "b": "서울"}
    found = server.post("/similarity", asked).json["similarity"]
    assert found == pytest.approx(similarity(capitals(), "한국", "서울"), abs=1e-6)
    texts = ["a guitar", "music"]
    one, other = minilm.encode(texts)
    asked = {"model": "minilm", "a": texts[0], "b": texts[1]}
    found = server.post("/similarity", asked).json["similarity"]
    assert found == pytest.approx(float(one @ other), abs=1e-6)


def test_a_word_read_as_another_is_reported(fishing: Running) -> None:
    found = fishing.post("/neighbours", {"word": "fihsing", "k": 1}).json
    assert found["neighbours"][0]["key"] == "fishing"
    assert 0.5 < found["read_as"]["fihsing"]["fishing"] <= 1
    (note,) = found["notes"]
    assert note.startswith("'fihsing' is not in the vectors; perhaps fishing (")
    assert ", or a new word (" in note
    for path, asked in (
        ("/analogy", {"expression": "fihsing + boats - lake"}),
        ("/similarity", {"a": "fihsing", "b": "boats"}),
    ):
        answer = fishing.post(path, asked).json
        assert answer["read_as"] == found["read_as"]
        assert answer["notes"][0] == note
        assert answer["notes"][1].startswith("'boats' is not in the vectors; built from ")
    known = fishing.post("/neighbours", {"word": "fishing"}).json
    assert (known["read_as"], known["notes"]) == ({}, [])


def test_an_unknown_word_is_told_with_near_spellings(server: Running) -> None:
    found = server.get(f"/neighbours?word={quote('한극')}")
    assert found.status == 404
    assert found.json["error"]["code"] == "unknown_word"
    assert "did you mean 한국" in found.json["error"]["message"]


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/neighbours", "word"),
        ("/neighbours?word=a&k=0", "Expected int >= 1"),
        ("/neighbours?word=a&k=x", "Expected int"),
        ("/neighbours?word=a&k=1001", "k is 1,001: at most 1,000"),
        ("/neighbours?word=a&metric=near", "Invalid enum value"),
        ("/neighbours?word=a&model=minilm", "'minilm' has no word vectors"),
        ("/neighbours?word=%ff", "not UTF-8"),
        ("/neighbours?word=a&wrod=b", "unknown field wrod"),
        ("/similarity?one=a&other=b", "unknown field one; it is now called a"),
        ("/neighbours?word=a&metric=far", "in 'metric': Invalid enum value 'far': choose one of"),
        ("/analogy?expression=" + quote("한국 + +"), "two operators"),
    ],
)
def test_a_wrong_question_is_told_in_one_sentence(
    server: Running, path: str, sentence: str
) -> None:
    found = server.get(path)
    assert found.status == 400
    assert sentence in found.json["error"]["message"]


def test_texts_are_shown_as_the_model_sees_them(
    server: Running, minilm: TransformerEncoder
) -> None:
    found = server.post("/tokenize", {"texts": ["unbelievable!", ["a", "b"]]}).json["texts"]
    expected = minilm.tokenizer(["unbelievable!", ("a", "b")])
    for one, pieces in zip(found, expected, strict=True):
        assert one["tokens"] == list(pieces.tokens)
        assert one["ids"] == pieces.ids.tolist()
        assert one["offsets"] == pieces.offsets.tolist()
        assert one["token_type_ids"] == pieces.token_type_ids.tolist()
        assert one["word_ids"] == pieces.word_ids.tolist()
