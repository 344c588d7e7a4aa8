"""Vocabulary: ids by frequency, the same in every run."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.errors import InvalidArgumentError, UnknownWordError
from malmoi.keys import Keys
from malmoi.vocabulary import Vocabulary

counts = st.dictionaries(st.text(max_size=4), st.integers(0, 5), max_size=12)


@given(counts, st.integers(0, 3), st.one_of(st.none(), st.integers(0, 8)))
def test_words_are_ordered_by_count_then_by_their_bytes(
    given_counts: dict[str, int], min_count: int, size: int | None
) -> None:
    vocabulary = Vocabulary.of(given_counts, min_count=min_count, size=size)
    kept = [word for word, count in given_counts.items() if count >= min_count]
    kept.sort(key=lambda word: word.encode())
    kept.sort(key=lambda word: -given_counts[word])
    assert list(vocabulary) == kept[:size]
    assert vocabulary.counts.tolist() == [given_counts[word] for word in kept[:size]]


@given(counts)
def test_the_order_of_counting_changes_no_id(given_counts: dict[str, int]) -> None:
    backwards = dict(reversed(given_counts.items()))
    assert Vocabulary.of(given_counts).words == Vocabulary.of(backwards).words


def test_ids_count_from_the_most_frequent() -> None:
    vocabulary = Vocabulary.of(Counter(["나는", "나", "는", "나는", "나", "나"]))
    assert list(vocabulary) == ["나", "나는", "는"]
    assert [vocabulary.id(word) for word in vocabulary] == [0, 1, 2]
    assert [vocabulary.count(word) for word in vocabulary] == [3, 2, 1]
    assert len(vocabulary) == 3


def test_a_word_never_seen_has_no_id_and_no_count() -> None:
    vocabulary = Vocabulary.of({"a": 1})
    assert vocabulary.count("b") == 0
    assert "b" not in vocabulary
    assert "a" in vocabulary
    with pytest.raises(UnknownWordError, match="'b'"):
        vocabulary.id("b")


def test_rare_words_are_left_out() -> None:
    assert list(Vocabulary.of({"a": 5, "b": 4, "c": 1}, min_count=4)) == ["a", "b"]
    assert list(Vocabulary.of({"a": 5, "b": 4, "c": 1}, size=1)) == ["a"]
    assert list(Vocabulary.of({})) == []


def test_bytes_that_are_not_utf8_have_an_id_too() -> None:
    vocabulary = Vocabulary.of({"\udcff": 2, "z": 2})
    assert list(vocabulary) == ["z", "\udcff"]
    assert vocabulary.id("\udcff") == 1


def test_the_word_index_leaves_zero_to_padding() -> None:
    vocabulary = Vocabulary.of({"a": 3, "b": 2})
    assert vocabulary.word_index() == {"a": 1, "b": 2}
    assert vocabulary.word_index(start=2) == {"a": 2, "b": 3}


def test_counts_must_be_as_many_as_words() -> None:
    with pytest.raises(InvalidArgumentError, match="1 counts for 2 words"):
        Vocabulary(Keys.of("ab"), np.array([1]))


def test_a_vocabulary_shows_its_size() -> None:
    assert repr(Vocabulary.of({"a": 1500, "b": 2})) == "Vocabulary(2 words, 1,502 seen)"


@given(st.dictionaries(st.text("ab\0한", max_size=20), st.integers(1, 3), max_size=40))
def test_order_is_by_count_then_by_bytes(counts: dict[str, int]) -> None:
    expected = sorted(counts, key=lambda word: (-counts[word], word.encode()))
    assert list(Vocabulary.of(counts)) == expected


def test_words_that_begin_alike_are_ordered_by_their_ends() -> None:
    words = {f"{'x' * 20}{end}": 1 for end in "cab"}
    assert [word[-1] for word in Vocabulary.of(words)] == ["a", "b", "c"]


def test_merging_adds_the_counts_of_both() -> None:
    both = Vocabulary.of({"a": 3, "b": 1}).merged(Vocabulary.of({"b": 4, "c": 2}))
    assert list(both) == ["b", "a", "c"]
    assert both.counts.tolist() == [5, 3, 2]
