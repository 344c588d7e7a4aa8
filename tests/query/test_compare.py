from dataclasses import replace

import numpy as np
import pytest
from gensim.models import KeyedVectors

from malmoi.errors import InvalidArgumentError, UnknownWordError
from malmoi.query.compare import odd_one_out, rank, similarity
from malmoi.query.neighbours import neighbours
from malmoi.subwords import Subwords, SubwordVectors
from malmoi.vectors import Vectors
from tests.query.worlds import capitals, random_vectors


@pytest.fixture
def vectors() -> Vectors:
    return random_vectors(60, 8, seed=5)


@pytest.fixture
def peer(vectors: Vectors) -> KeyedVectors:
    peer = KeyedVectors(vectors.dim)
    peer.add_vectors(list(vectors.keys), vectors.matrix)
    return peer


def test_similarity_rank_and_odd_one_are_gensims(vectors: Vectors, peer: KeyedVectors) -> None:
    for one, other in (("w0", "w1"), ("w5", "w59"), ("w3", "w3")):
        assert similarity(vectors, one, other) == pytest.approx(
            peer.similarity(one, other), abs=1e-6
        )
    for other in ("w1", "w30", "w59"):
        assert rank(vectors, "w0", other) == peer.rank("w0", other)
    words = [f"w{i}" for i in range(7)]
    assert odd_one_out(vectors, words) == peer.doesnt_match(words)


def test_the_fruit_is_the_odd_one_among_countries() -> None:
    assert odd_one_out(capitals(), ["한국", "일본", "사과", "서울"]) == "사과"


def test_two_words_have_no_odd_one() -> None:
    with pytest.raises(InvalidArgumentError, match="at least three"):
        odd_one_out(capitals(), ["한국", "일본"])


def test_a_word_built_from_subwords_can_be_compared_but_has_no_rank() -> None:
    ngrams = np.random.default_rng(1).standard_normal((50, 4)).astype(np.float32)
    seen = np.ones((1, 4), np.float32)
    vectors = SubwordVectors(
        ["eating"],  # type: ignore[arg-type]
        seen,
        word_rows=seen,
        bucket_rows=ngrams,
        subwords=Subwords(buckets=50),
    )
    assert -1 <= similarity(vectors, "eating", "eatingg") <= 1
    with pytest.raises(UnknownWordError):
        rank(vectors, "eating", "eatingg")


@pytest.mark.filterwarnings("ignore::malmoi.errors.MalmoiWarning")
def test_a_misspelled_word_is_queried_as_its_correction(subworded: SubwordVectors) -> None:
    few = replace(
        subworded, bucket_rows=np.where(subworded.bucket_rows > 1.5, subworded.bucket_rows, 0)
    )
    assert few.explain("eatimg").source == "typo"
    corrected = few.query_vector("eatimg")
    assert similarity(few, "eatimg", "eats") == similarity(few, corrected, "eats")
    assert similarity(few, "eatimg", "eating") > similarity(few, few["eatimg"], "eating")
    assert neighbours(few, "eatimg", k=1)[0].key == "eating"


def test_a_word_is_no_neighbour_of_itself() -> None:
    with pytest.raises(
        InvalidArgumentError, match="'한국' is not its own neighbour: give another word"
    ):
        rank(capitals(), "한국", "한국")


def test_words_to_find_the_odd_one_among_may_be_anything_but_one_string() -> None:
    words = ["한국", "일본", "사과", "서울"]
    for asked in (iter(words), np.array(words)):
        found = odd_one_out(capitals(), asked)
        assert (found, type(found)) == ("사과", str)
    with pytest.raises(
        InvalidArgumentError, match="words must be a list of words, not the string 'abc'"
    ):
        odd_one_out(capitals(), "abc")
