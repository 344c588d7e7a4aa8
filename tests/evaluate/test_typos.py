import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import malmoi as mm
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.sets.word_sets import SimilaritySet, WordPair, read_pairs
from malmoi.evaluate.typo_robustness import add_typo, possible_typos, typo_robustness
from malmoi.hangul import split_jamo
from malmoi.query.suggestions import edit_distance, spelled
from malmoi.typos.keyboards import QWERTY_NEAR, TWO_SET_NEAR, hangul_typos
from tests.evaluate.sets import animals, pieces, real

hangul = st.text(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), min_size=1, max_size=6)
latin = st.text("abcdefghijklmnopqrstuvwxyzABCé'-1", min_size=1, max_size=8)


def test_keys_touch_those_around_them() -> None:
    assert set(QWERTY_NEAR["g"]) == set("tyfhvb")
    assert set(QWERTY_NEAR["q"]) == set("wa")
    assert set(TWO_SET_NEAR["ㅏ"]) == set("ㅓㅣㅑㅐㅡ")


def test_slips_of_letters_that_take_shift_or_two_strokes() -> None:
    assert set(hangul_typos("ㄲ")) == set("ㄱㄸㅆ")
    assert set(hangul_typos("ㅒ")) == set("ㅐㅖ")
    assert set(hangul_typos("ㅟ")) == set("ㅚㅢㅞ")
    assert "ㄽ" in hangul_typos("ㅀ")


@given(hangul, st.integers(0, 1000))
def test_a_korean_typo_is_one_jamo(word: str, seed: int) -> None:
    typo = add_typo(word, seed)
    assert typo == add_typo(word, seed)
    before, after = split_jamo(word), split_jamo(typo)
    assert len(before) == len(after)
    assert sum(a != b for a, b in zip(before, after, strict=True)) == 1


@given(latin, st.integers(0, 1000))
def test_another_typo_is_one_letter(word: str, seed: int) -> None:
    typo = add_typo(word, seed)
    assert typo != word
    assert typo == add_typo(word, seed)
    assert edit_distance(spelled(word), spelled(typo), 3) <= 2  # an accent is a letter there


@given(st.text(min_size=1), st.integers(0, 10))
def test_whatever_the_word_is_it_changes(word: str, seed: int) -> None:
    if word.strip():
        assert add_typo(word, seed) != word


def test_kinds_of_typos() -> None:
    korean = possible_typos("세상")
    assert korean["same sound"] == ["새상"]
    assert korean["dropped final"] == ["세사"]
    assert "게상" in korean["neighbouring key"]
    english = possible_typos("Tea")
    assert english["dropped letter"] == ["Ta", "Te", "ea"]
    assert english["swapped letters"] == ["Tae", "eTa"]
    assert english["doubled letter"] == ["TTea", "Teaa", "Teea"]
    assert {"Rea", "Twa", "Tes"} < set(english["neighbouring key"])
    assert possible_typos("漢")["doubled letter"] == ["漢漢"]


def test_an_empty_word_is_refused() -> None:
    with pytest.raises(InvalidArgumentError):
        add_typo(" ")


def test_every_kind_is_drawn() -> None:
    random = np.random.default_rng(0)
    drawn = {add_typo("세상", random) for _ in range(200)}
    assert drawn == {typo for typos in possible_typos("세상").values() for typo in typos}


def asked() -> SimilaritySet:
    words = ["cat", "dog", "tiger", "car", "bus"]
    near = [WordPair(a, b, round(mm.similarity(animals(), a, b), 6)) for a in words for b in words]
    return SimilaritySet("some", tuple(near))


def test_vectors_without_ngrams_keep_nothing() -> None:
    found = typo_robustness(animals(), asked())
    assert (found.retained.value, found.with_typos) == (0, 0)
    assert found.without_typos == pytest.approx(1)
    assert (found.typos, found.unanswered, found.own_rows) == (50, 50, 0)


def test_ngrams_answer_for_typos() -> None:
    found = typo_robustness(pieces(), asked())
    assert found.unanswered == 0
    assert found.with_typos is not None
    assert found.retained.value == pytest.approx(found.with_typos)
    assert found.retained.low is not None
    assert found == typo_robustness(pieces(), asked())
    assert found != typo_robustness(pieces(), asked(), seed=1)


def test_nothing_to_keep_where_nothing_was_answered() -> None:
    found = typo_robustness(animals(), SimilaritySet("some", (WordPair("개", "고양이", 1),)))
    assert (found.retained.value, found.retained.low, found.without_typos, found.typos) == (
        None,
    ) * 3 + (0,)


def test_nothing_to_keep_where_similarity_may_be_chance() -> None:
    random = np.random.default_rng(8).permutation(25)
    pairs = zip(asked().pairs, random.tolist(), strict=True)
    chance = SimilaritySet("some", tuple(WordPair(one, other, n) for (one, other, _), n in pairs))
    found = typo_robustness(pieces(), chance)
    assert found.without_typos is not None
    assert found.retained.value is None


@pytest.mark.parametrize("name", ["EN-WS-353-ALL.txt", "WS353_korean.csv"])
def test_real_words_all_get_a_typo(name: str) -> None:
    for pair in read_pairs(real(name)).pairs:
        assert add_typo(pair.one) != pair.one
        assert add_typo(pair.other) != pair.other
