"""Corrections of a typed word: single edits of keystrokes and their probabilities."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.typos.edits import MAX_KEYSTROKES, compose, corrections, keystrokes
from malmoi.typos.keyboards import HANGUL_KEYS, LATIN_KEYS, NEAR_KEYS

SYLLABLES = st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3)
KOREAN = st.text(SYLLABLES, min_size=1, max_size=5)
ENGLISH = st.text(LATIN_KEYS, min_size=2, max_size=9)


@pytest.mark.parametrize(
    ("word", "keys"),
    [
        ("강아지", "ㄱㅏㅇㅇㅏㅈㅣ"),
        ("값이", "ㄱㅏㅂㅅㅇㅣ"),
        ("왜", "ㅇㅗㅐ"),
        ("까치", "ㄲㅏㅊㅣ"),
        ("K팝", "Kㅍㅏㅂ"),
        ("cat", "cat"),
        ("ㅋㅋ", "ㅋㅋ"),
    ],
)
def test_strokes_of_a_word(word: str, keys: str) -> None:
    assert keystrokes(word) == keys
    assert compose(keys) == word


@given(KOREAN)
def test_what_is_typed_stroke_by_stroke_is_the_word(word: str) -> None:
    assert compose(keystrokes(word)) == word


def test_letters_come_together_as_an_input_method_has_them() -> None:
    assert compose("ㄱㅏㄱㅅㅏ") == "각사"  # ㅅ goes with the vowel that follows
    assert compose("ㄱㅏㄱㅅㄷㅏ") == "갃다"
    assert compose("ㄱㄱㅏㅏ") == "ㄱ가ㅏ"


@given(st.one_of(KOREAN, ENGLISH), st.data())
def test_every_edit_of_one_keystroke_is_a_candidate(word: str, data: st.DataObject) -> None:
    keys = keystrokes(word)
    at = data.draw(st.integers(0, len(keys) - 1))
    key = data.draw(st.sampled_from(LATIN_KEYS if word.isascii() else HANGUL_KEYS))
    before, this, after = keys[:at], keys[at], keys[at + 1 :]
    for edited in (
        before + key + after,
        before + after,
        before + key + this + after,
        before + after[:1] + this + after[1:],
    ):
        typed = compose(edited)
        if typed != word and keystrokes(typed) == edited and set(edited) & set(keystrokes(word)):
            assert corrections(typed)[word] > 0


@pytest.mark.parametrize(
    ("typed", "intended"),
    [
        ("teh", "the"),
        ("coffe", "coffee"),
        ("coffeee", "coffee"),
        ("lpve", "love"),
        ("fone", "phone"),
        ("london", "London"),
        ("MODLE", "MODEL"),
        ("강이지", "강아지"),
        ("게발", "개발"),
        ("웨냐하면", "왜냐하면"),
        ("머거", "먹어"),
        ("업다", "없다"),
        ("가앚ㅣ", "강아지"),  # two strokes swapped
        ("있ㄷ다", "있다"),
        ("приветт", "привет"),
    ],
)
def test_known_typos(typed: str, intended: str) -> None:
    assert intended in corrections(typed)


def test_likely_edits_are_more_probable() -> None:
    assert corrections("lpve")["love"] > corrections("lqve")["love"]  # o is beside p, not beside q
    assert corrections("게발")["개발"] > corrections("고발")["개발"]  # the same sound
    assert corrections("coffeee")["coffee"] > corrections("coffeqe")["coffee"]  # the same key again
    assert (
        corrections("coffe")["coffee"] > corrections("cofee")["cofyee"]
    )  # either of two was left out


def test_the_word_itself_is_not_a_correction() -> None:
    assert "book" not in corrections("book")
    assert corrections("") == {}
    assert corrections("a" * (MAX_KEYSTROKES + 1)) == {}
    assert set(corrections("!")) == {"", "!!"}


def test_a_stroke_is_wrong_on_the_same_keyboard() -> None:
    for key, near in NEAR_KEYS.items():
        assert key not in near
        assert len(set(near)) == len(near)
        assert all((key in HANGUL_KEYS) == (other in HANGUL_KEYS) for other in near)
    assert set(NEAR_KEYS["ㄱ"]) == set("ㄷㅅㅇㄹㄲ")
    assert set(NEAR_KEYS["ㄲ"]) == set("ㄸㅆㄱ")
    assert set(NEAR_KEYS["A"]) == set("QWSZa")
