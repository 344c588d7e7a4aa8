import numpy as np
import pytest

from malmoi.errors import InvalidArgumentError
from malmoi.query.matrix import embedding_matrix
from malmoi.subwords import Subwords, SubwordVectors
from malmoi.vectors import Vectors
from malmoi.vocabulary import Vocabulary

TEXTBOOK = [
    "nice", "great", "best", "amazing", "stop", "lies", "pitiful", "nerd",
    "excellent", "work", "supreme", "quality", "bad", "highly", "respectable",
]  # fmt: skip


def pretrained(*without: str) -> Vectors:
    words = [word for word in TEXTBOOK if word not in without] + ["other", "words"]
    numbers = np.random.default_rng(0).standard_normal((len(words), 100))
    return Vectors(words, numbers)


def test_the_textbooks_fifteen_words_make_a_matrix_of_16_by_100() -> None:
    vectors = pretrained()
    word_index = {word: number for number, word in enumerate(TEXTBOOK, 1)}
    matrix, report = embedding_matrix(vectors, word_index)
    assert matrix.shape == (16, 100)
    assert matrix.dtype == np.float32
    assert not matrix[0].any()
    for word, number in word_index.items():
        np.testing.assert_array_equal(matrix[number], vectors[word])
    assert report.with_row == tuple(TEXTBOOK)
    assert str(report) == "15 found, 0 from subwords, 0 missing"


def test_the_callers_numbers_are_never_changed() -> None:
    vectors = pretrained()
    matrix, _ = embedding_matrix(vectors, {"bad": 7, "nice": 3})
    assert matrix.shape == (8, 100)
    np.testing.assert_array_equal(matrix[7], vectors["bad"])
    np.testing.assert_array_equal(matrix[3], vectors["nice"])
    assert not matrix[[0, 1, 2, 4, 5, 6]].any()


def test_missing_words_are_like_unknown_ones_and_reported() -> None:
    vectors = pretrained("nerd")
    index = {"<OOV>": 1, "nice": 2, "nerd": 3}
    matrix, report = embedding_matrix(vectors, index)
    assert report.missing == ("nerd",)
    assert report.unknown == 1
    np.testing.assert_allclose(matrix[1], vectors.matrix[-100:].mean(axis=0))
    np.testing.assert_array_equal(matrix[3], matrix[1])
    assert "1 missing (nerd)" in str(report)
    assert not embedding_matrix(vectors, index, missing="zeros").matrix[3].any()


def test_random_rows_are_the_same_with_the_same_seed() -> None:
    one = embedding_matrix(pretrained("nerd"), {"nerd": 1}, missing="random", seed=4).matrix
    same = embedding_matrix(pretrained("nerd"), {"nerd": 1}, missing="random", seed=4).matrix
    other = embedding_matrix(pretrained("nerd"), {"nerd": 1}, missing="random", seed=5).matrix
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_an_index_from_2_leaves_row_1_to_unknown_words() -> None:
    vectors = Vectors(["<unk>", "a"], [[5.0, 5.0], [1.0, 2.0]])
    matrix, report = embedding_matrix(vectors, {"a": 2})
    np.testing.assert_array_equal(matrix, [[0, 0], [5, 5], [1, 2]])
    assert report.unknown == 1


def test_unseen_words_are_built_from_subwords() -> None:
    ngrams = np.random.default_rng(1).standard_normal((50, 4)).astype(np.float32)
    seen = np.ones((1, 4), np.float32)
    vectors = SubwordVectors(
        ["먹다"],  # type: ignore[arg-type]
        seen,
        word_rows=seen,
        bucket_rows=ngrams,
        subwords=Subwords(min_n=2, max_n=3, buckets=50),
    )
    matrix, report = embedding_matrix(vectors, {"먹다": 1, "먹었다": 2})
    assert (report.with_row, report.from_subwords, report.missing) == (("먹다",), ("먹었다",), ())
    np.testing.assert_array_equal(matrix[2], vectors["먹었다"])


def test_a_vocabulary_is_an_index_too() -> None:
    vocabulary = Vocabulary.of({"bad": 2, "nice": 9})
    matrix, _ = embedding_matrix(pretrained(), vocabulary)
    np.testing.assert_array_equal(matrix[1], pretrained()["nice"])


def test_a_word_on_the_padding_row_is_refused_unless_there_is_no_padding() -> None:
    with pytest.raises(InvalidArgumentError, match="padding row"):
        embedding_matrix(pretrained(), {"nice": 0})
    matrix, _ = embedding_matrix(pretrained(), {"nice": 0}, padding=None)
    np.testing.assert_array_equal(matrix[0], pretrained()["nice"])
    assert not embedding_matrix(pretrained(), {"<pad>": 0, "nice": 1}).matrix[0].any()


@pytest.mark.parametrize("index", [{"a": 1, "b": 1}, {"a": -1}, {"a": 1.5}])
def test_an_index_that_makes_no_sense_is_refused(index: dict[str, int]) -> None:
    with pytest.raises(InvalidArgumentError):
        embedding_matrix(pretrained(), index)


def test_no_vectors_fill_no_matrix() -> None:
    with pytest.raises(InvalidArgumentError, match="there are no vectors"):
        embedding_matrix(Vectors([], np.empty((0, 3))), {"a": 1})
