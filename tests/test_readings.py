"""Which known words an unknown one may be, and how surely."""

import unicodedata

import numpy as np
import pytest

from malmoi.readings import NEW, readings
from malmoi.slips import meant_by
from malmoi.spelling import learn_spelling
from malmoi.vectors import Vectors

WORDS = ["the", "ten", "tech", "개발"]
SPELLING = learn_spelling(WORDS)


def known(counts: list[int] | None) -> Vectors:
    return Vectors(WORDS, np.eye(4, 2), counts)


def test_shares_are_frequencies_times_the_chances_of_slips() -> None:
    found = dict(readings(known([4000, 300, 200, 500]), "teh", SPELLING))
    chances = meant_by("teh")
    shares = {"the": 0.8, "ten": 0.06, "tech": 0.04}
    weights = {word: share * chances[word] for word, share in shares.items()}
    total = sum(weights.values()) + NEW * SPELLING.chance("teh")
    assert found == pytest.approx({word: weight / total for word, weight in weights.items()})
    assert sum(found.values()) < 1


def test_the_likeliest_comes_first() -> None:
    found = readings(known([4000, 300, 200, 2]), "teh", SPELLING)
    assert found[0].word == "the"
    assert [one.share for one in found] == sorted((one.share for one in found), reverse=True)


def test_what_is_spelt_like_other_words_is_rather_new() -> None:
    shares = [
        sum(one.share for one in readings(known([400, 30, 20, 2]), "teh", learn_spelling(words)))
        for words in (["teh", "tehs", "tehran"], ["meh", "tea"], ["하나", "둘"])
    ]
    assert shares == sorted(shares)
    assert shares[0] < 0.5 < shares[-1]


def test_where_nobody_counted_rank_stands_for_frequency() -> None:
    by_rank, counted = (
        readings(known(counts), "teh", SPELLING) for counts in (None, [12 * 4, 12 * 2, 16, 12])
    )
    assert [one.word for one in by_rank] == [one.word for one in counted]
    assert [one.share for one in by_rank] == pytest.approx([one.share for one in counted], abs=0.1)


def test_a_word_far_from_all_has_no_reading() -> None:
    assert readings(known(None), "zebra", SPELLING) == []
    assert readings(known([0, 0, 0, 0]), "teh", SPELLING) == []
    assert readings(Vectors([], np.empty((0, 2))), "teh", learn_spelling([])) == []


def test_hangul_in_its_letters_is_read_alike() -> None:
    apart = unicodedata.normalize("NFD", "게발")
    assert readings(known(None), apart, SPELLING) == readings(known(None), "게발", SPELLING)
    assert readings(known(None), apart, SPELLING)[0].word == "개발"
