"""Keys, beside a plain list of strings."""

import copy
from collections.abc import Callable
from pickle import dumps, loads
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from malmoi import keys as keys_module
from malmoi.errors import InvalidArgumentError
from malmoi.keys import Keys, encode, hash_word, hash_words, pack_spans

word = st.one_of(
    st.sampled_from(["", "a", "b", "ab", "\0", "a\0", "한국", "각", "\udcff", "a\udc80", "\n"]),
    st.text(max_size=6),
    st.binary(max_size=6).map(lambda raw: raw.decode("utf-8", "surrogateescape")),
)
lists = st.lists(word, max_size=12)


def first_place(words: list[str], asked: str) -> int:
    return words.index(asked) if asked in words else -1


@given(lists)
@example([])
@example(["", "", "a", ""])
@example(["a\0b", "\0", "\udcff\udcfe", "한국"])
def test_words_come_back_as_they_went_in(words: list[str]) -> None:
    keys = Keys.of(words)
    assert len(keys) == len(words)
    assert list(keys) == words
    assert [keys[row] for row in range(len(words))] == words
    assert [keys[row - len(words)] for row in range(len(words))] == words
    assert [keys.bytes_at(row) for row in range(len(words))] == list(map(encode, words))


@given(lists, st.lists(word, max_size=6))
@example([], ["a"])
@example(["", "a", "", "a"], ["a", "", "b", "a"])
def test_a_word_is_found_in_its_first_row(words: list[str], others: list[str]) -> None:
    keys, asked = Keys.of(words), words + others
    expected = [first_place(words, each) for each in asked]
    assert [keys.find(each) for each in asked] == expected
    assert keys.find_all(asked).tolist() == expected
    assert [each in keys for each in asked] == [each in words for each in asked]


@given(lists)
@example(["a", "b", "a", "a", "b"])
def test_repeats_are_the_rows_whose_word_stands_before(words: list[str]) -> None:
    expected = [row for row, each in enumerate(words) if each in words[:row]]
    assert Keys.of(words).repeats().tolist() == expected


@given(lists.filter(bool), st.lists(st.integers(0, 99), max_size=8))
def test_taken_rows_are_those_of_the_list(words: list[str], places: list[int]) -> None:
    rows = np.array([place % len(words) for place in places], dtype=np.int64)
    taken = Keys.of(words).take(rows)
    assert list(taken) == [words[row] for row in rows]
    assert taken.find(words[0]) == first_place(list(taken), words[0])


def test_rows_counted_from_the_end_are_taken_as_numpy_takes_them() -> None:
    assert list(Keys.of(["a", "bb", "ccc"]).take(np.array([-1, 0, -2]))) == ["ccc", "a", "bb"]


@given(lists, st.slices(12))
@example(["a", "b"], slice(None, None, -1))
@example(["a", "b"], slice(5, 1))
def test_a_slice_is_the_slice_of_the_list(words: list[str], part: slice) -> None:
    assert list(Keys.of(words)[part]) == words[part]


@given(lists, lists)
def test_keys_are_equal_when_their_lists_are(words: list[str], others: list[str]) -> None:
    assert Keys.of(words) == Keys.of(words)
    assert (Keys.of(words) == Keys.of(others)) == (words == others)
    assert Keys.of(words) != words


@given(lists)
@example(["", "", ""])
def test_hashing_side_by_side_is_hashing_one_by_one(words: list[str]) -> None:
    keys = Keys.of(words)
    expected = [hash_word(encode(each)) for each in words]
    assert hash_words(keys.packed, keys.offsets).tolist() == expected


def test_hashing_in_small_chunks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["", "a" * 50, "b", "", "한국" * 9, "c", ""]
    monkeypatch.setattr(keys_module, "CHUNK_BYTES", 4)
    keys = Keys.of(words)
    assert hash_words(keys.packed, keys.offsets).tolist() == [hash_word(encode(w)) for w in words]
    assert [keys.find(each) for each in words] == [words.index(each) for each in words]


def test_words_with_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys_module, "hash_word", lambda word: 7)
    monkeypatch.setattr(
        keys_module, "hash_words", lambda packed, offsets: np.full(len(offsets) - 1, 7, np.uint64)
    )
    words = ["a", "b", "a", "c"]
    keys = Keys.of(words)
    assert [keys.find(each) for each in ("a", "b", "c", "d")] == [0, 1, 3, -1]
    assert keys.find_all(["d", "c", "a"]).tolist() == [-1, 3, 0]
    assert keys.repeats().tolist() == [2]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), max_size=6))
def test_spans_are_copied_end_to_end(spans: list[tuple[int, int]]) -> None:
    text = b"0123456789abcdef"
    starts = np.array([start for start, _ in spans], np.int64)
    lengths = np.array([length for _, length in spans], np.int64)
    packed, offsets = pack_spans(np.frombuffer(text, np.uint8), starts, starts + lengths)
    parts = [text[start : start + length] for start, length in spans]
    assert packed.tobytes() == b"".join(parts)
    assert np.diff(offsets).tolist() == list(map(len, parts))


def test_half_a_character_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="surrogate"):
        Keys.of(["\ud83d"])


@pytest.mark.parametrize("row", [3, -4])
def test_a_row_outside_is_an_index_error(row: int) -> None:
    with pytest.raises(IndexError, match=str(row)):
        Keys.of(["a", "b", "c"])[row]


@pytest.mark.parametrize("other", [1, None, b"1"])
def test_what_is_no_string_is_not_contained(other: object) -> None:
    assert other not in Keys.of(["1", "None"])


def test_keys_show_their_first_words() -> None:
    assert repr(Keys.of(["a", "b", "c", "d"])) == "Keys(4: 'a', 'b', 'c', …)"
    assert repr(Keys.of([])) == "Keys(0: )"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda keys: loads(dumps(keys))])
def test_keys_that_were_asked_can_be_copied_and_sent(copied: Callable[[Keys], Keys]) -> None:
    keys = Keys.of(["서울", "도쿄"])
    assert keys.find("도쿄") == 1  # which keeps views of its memory
    again = copied(keys)
    assert again == keys
    assert again.find("도쿄") == 1


@pytest.mark.parametrize("word", [5, b"bytes", None])
def test_what_is_no_string_is_no_word(word: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="words are strings"):
        Keys.of(["a", word])
