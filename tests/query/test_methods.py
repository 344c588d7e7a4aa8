"""The methods of `Vectors`: as gensim's KeyedVectors, argument by argument."""

from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors
from gensim.models.fasttext import load_facebook_vectors
from gensim.test.utils import datapath

import malmoi as mm
from malmoi.errors import InvalidArgumentError, MalmoiWarning, UnknownWordError
from malmoi.query.compare import similarity
from malmoi.vectors import Vectors
from tests.query.test_neighbours import as_gensim
from tests.query.worlds import capitals, random_vectors


@pytest.fixture(scope="module")
def ours() -> Vectors:
    return random_vectors()


@pytest.fixture(scope="module")
def theirs(ours: Vectors) -> KeyedVectors:
    return as_gensim(ours)


def assert_same(ours: Any, theirs: Any) -> None:
    assert [word for word, _ in ours] == [word for word, _ in theirs]
    np.testing.assert_allclose([s for _, s in ours], [s for _, s in theirs], atol=1e-6)
    assert all(type(word) is str and type(score) is float for word, score in ours)


@pytest.mark.parametrize(
    "query",
    [
        {"positive": "w3"},
        {"positive": ["w3"]},
        {"positive": "w3", "negative": "w4"},
        {"positive": ["w3", "w9"], "negative": ["w4"]},
        {"positive": [("w3", 0.5), ("w9", 2.0)], "negative": [("w4", -0.3)]},
        {"positive": [7, "w9"]},
        {"positive": [np.arange(12, dtype=np.float32)]},
        {"positive": np.arange(12, dtype=np.float64)},
        {"positive": np.eye(12, dtype=np.float32)[:3]},
        {"positive": "w3", "topn": 3, "restrict_vocab": 50},
        {"positive": "w3", "clip_start": 20, "clip_end": 80},
        {"positive": "w3", "topn": 600},
        {"negative": ["w3"]},
    ],
)
def test_most_similar_is_gensims(ours: Vectors, theirs: KeyedVectors, query: Any) -> None:
    assert_same(ours.most_similar(**query), theirs.most_similar(**query))


def test_all_cosines_and_none(ours: Vectors, theirs: KeyedVectors) -> None:
    np.testing.assert_allclose(
        ours.most_similar("w3", topn=None), theirs.most_similar("w3", topn=None), atol=1e-6
    )
    assert ours.most_similar("w3", topn=0) == []


def test_products_of_cosines_are_gensims(ours: Vectors, theirs: KeyedVectors) -> None:
    query: Any = {"positive": ["w3", "w9"], "negative": ["w4"], "topn": 20}
    found = ours.most_similar_cosmul(**query)
    assert_same(found, theirs.most_similar_cosmul(**query))


def test_an_indexer_answers_instead(ours: Vectors) -> None:
    class Indexer:
        def most_similar(self, vector: Any, topn: int) -> list[tuple[str, float]]:
            return [("from the indexer", float(np.linalg.norm(vector)))] * topn

    ((word, length),) = ours.most_similar("w3", topn=1, indexer=Indexer())
    assert (word, round(length, 5)) == ("from the indexer", 1.0)


def test_comparisons_are_gensims(ours: Vectors, theirs: KeyedVectors) -> None:
    assert ours.similarity("w1", "w2") == pytest.approx(theirs.similarity("w1", "w2"), abs=1e-6)
    assert ours.distance("w1", "w2") == pytest.approx(theirs.distance("w1", "w2"), abs=1e-6)
    sets = (["w1", "w2", "w3"], ["w4", "w5"])
    assert ours.n_similarity(*sets) == pytest.approx(theirs.n_similarity(*sets), abs=1e-6)
    words = [f"w{i}" for i in range(0, 60, 7)]
    assert ours.doesnt_match(words) == theirs.doesnt_match(words)
    assert_same(ours.similar_by_word("w5"), theirs.similar_by_word("w5"))
    assert_same(ours.similar_by_vector(ours["w5"]), theirs.similar_by_vector(theirs["w5"]))


def test_lookups_are_gensims(ours: Vectors, theirs: KeyedVectors) -> None:
    assert ours.index_to_key == theirs.index_to_key
    assert ours.key_to_index == theirs.key_to_index
    assert (ours.vector_size, ours.vectors.shape) == (theirs.vector_size, theirs.vectors.shape)
    np.testing.assert_array_equal(ours.get_vector("w4"), theirs.get_vector("w4"))
    np.testing.assert_array_equal(ours.get_vector(4), theirs.get_vector("w4"))
    unit = theirs.get_vector("w4", norm=True)
    np.testing.assert_allclose(ours.get_vector("w4", norm=True), unit, atol=1e-6)


def test_analogy_is_the_function() -> None:
    vectors = capitals()
    assert vectors.analogy("서울 - 한국 + 일본", 2) == mm.analogy(vectors, "서울 - 한국 + 일본", 2)


def test_words_never_seen_are_answered_by_ngrams() -> None:
    ours, theirs = (
        mm.load(datapath("lee_fasttext.bin")),
        load_facebook_vectors(datapath("lee_fasttext.bin")),
    )
    assert "nights" not in ours
    assert ours.similarity("night", "nights") == pytest.approx(
        theirs.similarity("night", "nights"), abs=1e-5
    )
    assert_same(ours.most_similar("nights", topn=5), theirs.most_similar("nights", topn=5))
    assert ours.doesnt_match(["nights", "days", "payments"]) == theirs.doesnt_match(
        ["nights", "days", "payments"]
    )
    sets = (["nights", "days"], ["payment", "hours"])
    assert ours.n_similarity(*sets) == pytest.approx(theirs.n_similarity(*sets), abs=1e-5)


def test_unknown_words_are_left_out_with_a_warning_where_gensim_ignores_them() -> None:
    vectors = capitals()
    with pytest.warns(MalmoiWarning, match="left out: 1, such as '파리'"):
        assert vectors.doesnt_match(["한국", "일본", "사과", "파리"]) == "사과"
    with pytest.warns(MalmoiWarning, match="left out"):
        assert vectors.n_similarity(["한국", "파리"], ["일본"]) == pytest.approx(
            similarity(vectors, "한국", "일본"), abs=1e-6
        )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda v: v.most_similar("한궁"), "did you mean 한국"),
        (lambda v: v.similarity("한국", "파리"), "'파리' is not in the vectors"),
        (lambda v: v.get_vector(99), "'99' is not in the vectors"),
        (lambda v: v.doesnt_match(["파리"]), "'파리' is not in the vectors"),
        (lambda v: v.n_similarity(["파리"], ["한국"]), "'파리' is not in the vectors"),
    ],
)
def test_unknown_words_are_key_errors(call: Any, message: str) -> None:
    with pytest.raises(UnknownWordError, match=message) as error:
        call(capitals())
    assert isinstance(error.value, KeyError)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda v: v.most_similar(), "nothing to look for"),
        (lambda v: v.most_similar([np.zeros(3)]), "not all zeros"),
        (lambda v: v.most_similar([np.ones(4)]), r"shape \(4,\)"),
        (lambda v: v.most_similar([("한국", 1, 2)]), "not a word with its weight"),
        (lambda v: v.most_similar("한국", topn=2.5), "topn is 2.5"),
        (lambda v: v.doesnt_match([]), "no words"),
        (lambda v: v.doesnt_match("한국"), "not the string"),
        (lambda v: v.n_similarity([], ["한국"]), "no words"),
    ],
)
def test_what_is_not_a_query_is_refused(call: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        call(capitals())
