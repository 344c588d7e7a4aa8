import numpy as np
import pytest
from gensim.models import KeyedVectors

from malmoi.errors import InvalidArgumentError
from malmoi.query.analogy import Term, analogy, parse_expression
from tests.query.worlds import capitals, random_vectors


def test_korea_without_seoul_with_tokyo_is_japan() -> None:
    assert analogy(capitals(), "한국 - 서울 + 도쿄", 1)[0].key == "일본"
    assert analogy(capitals(), "한국-서울+도쿄", 1, method="multiply")[0].key == "일본"


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("king - man + woman", [("king", 1), ("man", -1), ("woman", 1)]),
        ("한국 − 서울 + 도쿄", [("한국", 1), ("서울", -1), ("도쿄", 1)]),
        ("한국-서울+도쿄", [("한국", 1), ("서울", -1), ("도쿄", 1)]),
        ("- man + king", [("man", -1), ("king", 1)]),
        ("2*king - 0.5 * man", [("king", 2), ("man", -0.5)]),
        ("x-ray - e-mail", [("x-ray", 1), ("e-mail", -1)]),
        ("\"new york\" - 'los angeles'", [("new york", 1), ("los angeles", -1)]),
        ('"-" + a', [("-", 1), ("a", 1)]),
        ("king", [("king", 1)]),
        ("don't + it's", [("don't", 1), ("it's", 1)]),
    ],
)
def test_expressions(text: str, terms: list[tuple[str, float]]) -> None:
    assert parse_expression(text) == [Term(word, weight) for word, weight in terms]


@pytest.mark.parametrize("text", ["", "   ", "king -", "+", "king + - man", "king man", '"" + a'])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError):
        parse_expression(text)


def test_adding_is_gensims_most_similar() -> None:
    vectors = random_vectors()
    peer = KeyedVectors(vectors.dim)
    peer.add_vectors(list(vectors.keys), vectors.matrix)
    theirs = peer.most_similar(positive=["w1", "w2"], negative=["w3"], topn=15)
    ours = analogy(vectors, "w1 - w3 + w2", 15)
    assert [one.key for one in ours] == [key for key, _ in theirs]
    np.testing.assert_allclose([one.score for one in ours], [s for _, s in theirs], atol=1e-6)


def test_multiplying_is_gensims_most_similar_cosmul() -> None:
    vectors = random_vectors()
    peer = KeyedVectors(vectors.dim)
    peer.add_vectors(list(vectors.keys), vectors.matrix)
    theirs = peer.most_similar_cosmul(positive=["w1", "w2"], negative=["w3"], topn=15)
    ours = analogy(vectors, "w1 - w3 + w2", 15, method="multiply")
    assert [one.key for one in ours] == [key for key, _ in theirs]
    np.testing.assert_allclose([one.score for one in ours], [s for _, s in theirs], atol=1e-5)


def test_weights_pull_the_answer() -> None:
    vectors = random_vectors()
    peer = KeyedVectors(vectors.dim)
    peer.add_vectors(list(vectors.keys), vectors.matrix)
    theirs = peer.most_similar(positive=[("w1", 3.0), ("w2", 0.5)], topn=5)
    assert [one.key for one in analogy(vectors, "3*w1 + 0.5*w2", 5)] == [key for key, _ in theirs]


def test_words_that_cancel_out_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="the words of '한국 - 한국' cancel out to zero"):
        analogy(capitals(), "한국 - 한국")
