"""Which known words an unknown one may be, and how surely."""

import unicodedata

import numpy as np
import pytest

from malmoi.readings import NEW, UNFAMILIAR, readings
from malmoi.slips import meant_by
from malmoi.vectors import Vectors


def known(counts: list[int] | None) -> Vectors:
    return Vectors(["the", "ten", "tech", "개발"], np.eye(4, 2), counts)


@pytest.mark.parametrize("unfamiliar", [0, 3])
def test_shares_are_counts_times_the_chances_of_slips(unfamiliar: int) -> None:
    found = dict(readings(known([4000, 300, 200, 2]), "teh", unfamiliar))
    chances = meant_by("teh")
    weights = {"the": 2000 * chances["the"], "ten": 150 * chances["ten"]}
    weights["tech"] = 100 * chances["tech"]
    new = NEW / (1 + unfamiliar) ** UNFAMILIAR
    total = sum(weights.values()) + new
    assert found == pytest.approx({word: weight / total for word, weight in weights.items()})
    assert sum(found.values()) < 1


def test_the_likeliest_comes_first() -> None:
    found = readings(known([4000, 300, 200, 2]), "teh", 2)
    assert found[0].word == "the"
    assert [one.share for one in found] == sorted((one.share for one in found), reverse=True)


def test_unfamiliar_pieces_speak_against_a_new_word() -> None:
    shares = [
        sum(one.share for one in readings(known([400, 30, 20, 2]), "teh", unfamiliar))
        for unfamiliar in range(6)
    ]
    assert shares == sorted(shares)
    assert shares[0] < 0.1 < 0.9 < shares[-1]


def test_where_nobody_counted_rank_stands_for_frequency() -> None:
    by_rank, counted = (
        readings(known(counts), "teh", 3) for counts in (None, [12 * 4, 12 * 2, 16, 12])
    )
    assert [one.word for one in by_rank] == [one.word for one in counted]
    assert [one.share for one in by_rank] == pytest.approx([one.share for one in counted])


def test_a_word_far_from_all_has_no_reading() -> None:
    assert readings(known(None), "zebra", 9) == []
    assert readings(known([0, 0, 0, 0]), "zebra", 9) == []
    assert readings(Vectors([], np.empty((0, 2))), "teh", 0) == []


def test_hangul_in_its_letters_is_read_alike() -> None:
    apart = unicodedata.normalize("NFD", "게발")
    assert readings(known(None), apart, 3) == readings(known(None), "게발", 3)
    assert readings(known(None), apart, 3)[0].word == "개발"
