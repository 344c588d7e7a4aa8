import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.hangul import EMPTY, JAMO_OF_SYLLABLES, join_jamo, split_jamo
from malmoi.text.tokenizers import Jamo, Syllables

HANGUL = st.text(st.sampled_from("가힣강아지ㅋㅠㄳ∅ a1.") | st.characters(), max_size=30)


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("자연어처리", "ㅈㅏ∅ㅇㅕㄴㅇㅓ∅ㅊㅓ∅ㄹㅣ∅"),
        ("강아지", "ㄱㅏㅇㅇㅏ∅ㅈㅣ∅"),
        ("값", "ㄱㅏㅄ"),
        ("ㅋㅋ", "ㅋ∅∅ㅋ∅∅"),
        ("BTS와", "BTSㅇㅘ∅"),
        ("∅", "∅∅∅"),
    ],
)
def test_syllables_become_three_letters(text: str, letters: str) -> None:
    assert split_jamo(text) == letters
    assert join_jamo(letters) == text


@given(HANGUL)
def test_joining_is_the_exact_inverse(text: str) -> None:
    assert join_jamo(split_jamo(text)) == text


def test_every_syllable_there_is() -> None:
    syllables = "".join(map(chr, range(0xAC00, 0xD7A4)))
    assert split_jamo(syllables) == "".join(JAMO_OF_SYLLABLES)
    assert join_jamo("".join(JAMO_OF_SYLLABLES)) == syllables


def test_the_mark_of_an_empty_final_is_no_letter() -> None:
    assert not EMPTY.isalpha()
    assert not EMPTY.isalnum()


def test_letters_and_syllables_as_tokens() -> None:
    assert Syllables()("강 아지") == ["강", "아", "지"]
    assert Jamo()("강아") == ["ㄱ", "ㅏ", "ㅇ", "ㅇ", "ㅏ", EMPTY]
