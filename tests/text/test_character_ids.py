import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.text.character_ids import (
    NUM_BYTE_IDS,
    NUM_IDS,
    boundary_ids,
    character_ids,
    word_ids,
)


def test_bytes_of_a_word_stand_between_its_begin_and_end() -> None:
    assert character_ids(["Ab"], 6).tolist() == [[258, 65, 98, 259, 260, 260]]


def test_a_long_word_is_cut_even_inside_a_character() -> None:
    (row,) = character_ids(["한국"], 6)
    assert row.tolist() == [258, *"한국".encode()[:4], 259]


def test_boundaries_are_words_of_one_character() -> None:
    assert boundary_ids(4).tolist() == [[258, 256, 259, 260], [258, 257, 259, 260]]


def test_no_words_have_no_rows() -> None:
    assert character_ids([], 50).shape == (0, 50)


def test_a_lone_surrogate_has_no_bytes() -> None:
    assert word_ids("a\ud800") == [97]


@pytest.mark.parametrize("character", ["가", "힣", "ㄱ", "ㅣ", "강", "ㅋ"])
def test_jamo_ids_lie_beyond_those_of_bytes(character: str) -> None:
    assert all(NUM_BYTE_IDS <= id_ < NUM_IDS["jamo"] for id_ in word_ids(character, "jamo"))


def test_an_initial_differs_from_the_same_letter_as_a_final() -> None:
    initial, _, final = word_ids("각", "jamo")
    assert len({initial, final, *word_ids("ㄱ", "jamo")}) == 3


def test_every_syllable_and_letter_has_ids_of_its_own() -> None:
    characters = [*map(chr, range(0xAC00, 0xD7A4)), *map(chr, range(0x3131, 0x3164))]
    ids = [tuple(word_ids(character, "jamo")) for character in characters]
    assert len(set(ids)) == len(ids)
    assert {id_ for each in ids for id_ in each} == set(range(NUM_BYTE_IDS, NUM_IDS["jamo"]))


@given(st.lists(st.text(max_size=30)))
def test_other_characters_are_bytes_in_both_units(words: list[str]) -> None:
    other = [word for word in words if not any("ㄱ" <= c <= "힣" for c in word)]
    assert np.array_equal(character_ids(other, 50), character_ids(other, 50, "jamo"))
