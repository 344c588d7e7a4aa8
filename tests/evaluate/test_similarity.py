import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from scipy.stats import spearmanr  # type: ignore[import-untyped]

import malmoi as mm
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.sets.word_sets import SimilaritySet, WordPair
from malmoi.evaluate.similarity import word_similarity
from malmoi.vectors import Vectors
from tests.evaluate.sets import PAIRS, animals, pieces, real


def pairs(*more: WordPair) -> SimilaritySet:
    rows = [line.split("\t") for line in PAIRS.splitlines()]
    return SimilaritySet("some", (*(WordPair(a, b, float(c)) for a, b, c in rows), *more))


def test_it_is_the_rank_correlation_of_cosines() -> None:
    vectors, asked = animals(), pairs()
    cosines = [mm.similarity(vectors, pair.one, pair.other) for pair in asked.pairs]
    expected = spearmanr(cosines, [pair.score for pair in asked.pairs]).statistic
    score = word_similarity(vectors, asked)
    assert score.spearman.value == pytest.approx(float(expected))
    assert (score.spearman.answered, score.spearman.total, score.unknown) == (5, 5, ())


def test_a_pair_with_an_unseen_word_is_left_out_and_counted() -> None:
    score = word_similarity(
        animals(), pairs(WordPair("cat", "zebra", 9), WordPair("zebra", "gnu", 1))
    )
    assert score.spearman.value == word_similarity(animals(), pairs()).spearman.value
    assert (score.spearman.answered, score.spearman.total) == (5, 7)
    assert score.spearman.unanswered == pytest.approx(2 / 7)
    assert score.unknown == ("zebra", "gnu")


def test_ngrams_answer_and_are_counted() -> None:
    asked = pairs(WordPair("cat", "cats", 9), WordPair("cats", "dogs", 1))
    score = word_similarity(pieces(), asked)
    assert (score.spearman.answered, score.from_ngrams, score.unknown) == (7, 2, ())
    pruned = word_similarity(pieces(kept=[]), asked)
    assert (pruned.spearman.answered, pruned.from_ngrams) == (5, 0)
    assert pruned.unknown == ("cats", "dogs")


def test_capitals_are_built_small_where_the_model_knows_no_others() -> None:
    vectors = pieces()
    small = SimilaritySet("small", (WordPair("cats", "dog", 1), WordPair("tigers", "bus", 2)))
    large = SimilaritySet("large", (WordPair("Cats", "dog", 1), WordPair("TIGERS", "Bus", 2)))
    expected = word_similarity(vectors, small)
    assert word_similarity(vectors, large).spearman == expected.spearman


def test_case_is_folded_and_the_most_frequent_variant_answers() -> None:
    vectors = Vectors(["CAT", "cat", "dog", "car"], [[1.0, 0], [0, 1.0], [1, 0.1], [0.5, 0.5]])
    asked = SimilaritySet("some", (WordPair("Cat", "dog", 2), WordPair("cat", "car", 1)))
    folded = word_similarity(vectors, asked)
    assert (folded.spearman.value, folded.spearman.answered) == (1.0, 2)
    as_written = word_similarity(vectors, asked, fold_case=False)
    assert as_written.spearman.answered == 1
    assert as_written.unknown == ("Cat",)


def test_hangul_is_found_in_either_form() -> None:
    letters = [unicodedata.normalize("NFD", word) for word in ("고양이", "개", "차")]
    vectors = Vectors(letters, [[1.0, 0], [1, 0.2], [0, 1.0]])
    asked = SimilaritySet("some", (WordPair("고양이", "개", 9), WordPair("고양이", "차", 1)))
    assert word_similarity(vectors, asked).spearman.value == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_a_vector_that_points_nowhere_answers_nothing(bad: float) -> None:
    matrix = animals().matrix.copy()
    matrix[1] = bad
    score = word_similarity(replace(animals(), matrix=matrix), pairs())
    assert (score.spearman.answered, score.unknown) == (3, ("dog",))


def test_what_cannot_be_ranked_has_no_score() -> None:
    alike = Vectors(["a", "b", "c"], np.ones((3, 2)))
    constant = SimilaritySet("some", (WordPair("a", "b", 1), WordPair("b", "c", 2)))
    assert word_similarity(alike, constant).spearman.value is None
    one = SimilaritySet("one", (WordPair("cat", "dog", 1), WordPair("zebra", "gnu", 2)))
    found = word_similarity(animals(), one).spearman
    assert (found.value, found.low, found.answered) == (None, None, 1)
    assert word_similarity(animals(), SimilaritySet("none", ())).spearman.value is None


def test_most_frequent_leaves_the_others_out() -> None:
    assert word_similarity(animals(), pairs(), restrict_vocab=3).spearman.answered == 2
    with pytest.raises(InvalidArgumentError, match="restrict_vocab must be at least 1; got 0"):
        word_similarity(animals(), pairs(), restrict_vocab=0)


@pytest.fixture(scope="module")
def glove() -> tuple[Vectors, KeyedVectors]:
    vectors = mm.load("glove-6b-50d")
    peer = KeyedVectors(vectors.dim)
    peer.add_vectors(list(vectors.keys), vectors.matrix)
    return vectors, peer


def equal_to_gensim(glove: tuple[Vectors, KeyedVectors], path: Path, restrict: int) -> None:
    vectors, peer = glove
    _, spearman, unknown = peer.evaluate_word_pairs(str(path), restrict_vocab=restrict)
    ours = word_similarity(vectors, path, restrict_vocab=restrict).spearman
    assert ours.value == pytest.approx(spearman[0], abs=1e-6)
    assert 100 * ours.unanswered == pytest.approx(unknown)


@pytest.mark.parametrize("name", ["wordsim353.tsv", "simlex999.txt"])
def test_glove_scores_as_in_gensim(
    glove: tuple[Vectors, KeyedVectors], gensim_data: Callable[[str], Path], name: str
) -> None:
    equal_to_gensim(glove, gensim_data(name), 300_000)
    equal_to_gensim(glove, gensim_data(name), 5_000)


@pytest.mark.parametrize("name", ["EN-WS-353-ALL.txt", "EN-MEN-TR-3k.txt", "EN-RW-STANFORD.txt"])
def test_glove_scores_as_in_gensim_on_more(glove: tuple[Vectors, KeyedVectors], name: str) -> None:
    equal_to_gensim(glove, real(name), 300_000)


def test_another_language_has_its_n_and_no_score(glove: tuple[Vectors, KeyedVectors]) -> None:
    found = word_similarity(glove[0], real("WS353_korean.csv")).spearman
    assert (found.total, found.fits) == (353, False)
