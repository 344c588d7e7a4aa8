"""Vectors: look-up, slices and what they refuse."""

import unicodedata
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.errors import InvalidArgumentError, UnknownWordError
from malmoi.keys import Keys
from malmoi.vectors import Vectors


def made(keys: list[str], **fields: Any) -> Vectors:
    matrix = np.arange(len(keys) * 2, dtype=np.float32).reshape(-1, 2)
    return Vectors(Keys.of(keys), matrix, **fields)


def test_a_word_has_the_vector_of_its_row(words: Vectors) -> None:
    for row, word in enumerate(words):
        assert words.row(word) == row
        assert words[word].tolist() == words.matrix[row].tolist()
        assert word in words


def test_an_unknown_word_is_an_error_that_names_it(words: Vectors) -> None:
    assert words.row("kong") == -1
    assert "kong" not in words
    with pytest.raises(UnknownWordError, match="'kong'") as caught:
        words.vector("kong")
    assert caught.value.word == "kong"
    assert isinstance(caught.value, KeyError)


@pytest.mark.parametrize("stored", ["NFC", "NFD"])
@pytest.mark.parametrize("asked", ["NFC", "NFD"])
@pytest.mark.parametrize("word", ["한국", "naïve", "각", "Å"])
def test_a_word_is_found_in_either_unicode_form(stored: Any, asked: Any, word: str) -> None:
    vectors = made(["x", unicodedata.normalize(stored, word)])
    assert vectors.row(unicodedata.normalize(asked, word)) == 1
    assert unicodedata.normalize(asked, word) in vectors


def test_the_very_form_asked_for_comes_before_the_other() -> None:
    composed, apart = "한", unicodedata.normalize("NFD", "한")
    vectors = made([apart, composed])
    assert (vectors.row(apart), vectors.row(composed)) == (0, 1)


def test_many_words_give_a_matrix(words: Vectors) -> None:
    assert words[["queen", "한국", "queen"]].tolist() == words.matrix[[2, 3, 2]].tolist()
    assert words[iter(["the"])].shape == (1, 5)
    assert words[[]].shape == (0, 5)
    with pytest.raises(UnknownWordError):
        words[["king", "kong"]]


@given(st.slices(7))
def test_a_slice_cuts_keys_matrix_and_counts_alike(words: Vectors, part: slice) -> None:
    cut = words[part]
    assert list(cut.keys) == list(words.keys)[part]
    assert cut.matrix.tolist() == words.matrix[part].tolist()
    assert words.counts is not None
    assert cut.counts is not None
    assert cut.counts.tolist() == words.counts[part].tolist()
    assert cut.meta == words.meta


@pytest.mark.parametrize("rows", [[3, 0, 3], [], [-1, 0]])
def test_taken_rows_keep_their_words(words: Vectors, rows: list[int]) -> None:
    taken = words.take(np.array(rows, dtype=np.int64))
    assert list(taken.keys) == [list(words)[row] for row in rows]
    assert taken.matrix.tolist() == words.matrix[rows].tolist()


def test_the_most_frequent_are_found_whatever_the_order() -> None:
    vectors = made(["a", "b", "c", "d"], counts=np.array([1, 9, 5, 9]))
    assert list(vectors.most_frequent(3)) == ["b", "d", "c"]
    assert list(made(["a", "b", "c"]).most_frequent(2)) == ["a", "b"]
    assert list(vectors.most_frequent(99)) == ["b", "d", "c", "a"]


def test_norms_are_the_lengths_of_the_rows(words: Vectors) -> None:
    np.testing.assert_allclose(words.norms, np.linalg.norm(words.matrix, axis=1), rtol=1e-6)


def test_lists_and_doubles_become_keys_and_float32() -> None:
    vectors = Vectors(["a", "b"], [[1, 2.5], [3, 4]])  # type: ignore[arg-type]
    assert isinstance(vectors.keys, Keys)
    assert vectors.matrix.dtype == np.float32
    assert vectors.dim == 2
    assert len(vectors) == 2
    assert repr(vectors) == "Vectors(2 × 2)"


def test_a_float32_matrix_is_not_copied() -> None:
    matrix = np.zeros((2, 3), np.float32)
    assert np.shares_memory(Vectors(Keys.of("ab"), matrix).matrix, matrix)


@pytest.mark.parametrize(
    "matrix", [np.zeros(3), np.zeros((3, 2, 2)), np.array([["x"]] * 3), np.zeros((3, 2), complex)]
)
def test_what_is_no_matrix_of_numbers_is_refused(matrix: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"give numbers of shape \[n, dim\]"):
        Vectors(Keys.of("abc"), matrix)


def test_keys_and_counts_must_be_as_many_as_rows() -> None:
    with pytest.raises(InvalidArgumentError, match="2 keys for 3 rows"):
        Vectors(Keys.of("ab"), np.zeros((3, 1), np.float32))
    with pytest.raises(InvalidArgumentError, match="2 × 2 counts for 2 keys"):
        made(["a", "b"], counts=np.ones((2, 2)))
    with pytest.raises(InvalidArgumentError, match="not a matrix"):
        Vectors(["a", "b"], [[1], [1, 2]])
    with pytest.raises(InvalidArgumentError, match=r"0 is not a word.*matrix\[0\]"):
        made(["a", "b"])[0]  # type: ignore[call-overload]
    with pytest.raises(InvalidArgumentError, match="1 counts for 2 keys"):
        Vectors(Keys.of("ab"), np.zeros((2, 1), np.float32), np.array([1]))


def test_more_can_be_said_about_vectors_without_changing_them(words: Vectors) -> None:
    said = words.with_meta(language="ko")
    assert said.meta == {**words.meta, "language": "ko"}
    assert "language" not in words.meta
    assert said.keys is words.keys


def test_what_is_no_string_is_not_contained(words: Vectors) -> None:
    assert 1 not in words
    assert None not in words


def test_stored_norms_are_used_and_belong_to_the_rows() -> None:
    vectors = Vectors(["a", "b"], np.eye(2), stored_norms=np.array([3, 4], np.float32))
    assert vectors.norms.tolist() == [3, 4]
    assert vectors.with_meta(name="x").norms.tolist() == [3, 4]
    assert vectors[:1].norms.tolist() == [1]  # computed from the row
    with pytest.raises(InvalidArgumentError, match="3 norms for 2 keys"):
        Vectors(["a", "b"], np.eye(2), stored_norms=np.ones(3, np.float32))
