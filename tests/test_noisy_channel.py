"""Which known words an unknown one may be, and how surely."""

import unicodedata

import numpy as np
import pytest

from malmoi.formats import load
from malmoi.typos.char_lm import learn_spelling
from malmoi.typos.edits import corrections
from malmoi.typos.noisy_channel import (
    FREQUENCY_EXPONENT,
    KNOWN_FORM_WEIGHT,
    KNOWN_STEM_WEIGHT,
    RARE_BELOW,
    RARE_EXPONENT,
    SPELLING_TEMPERATURE,
    NewWords,
    learn_new_words,
    rank_corrections,
)
from malmoi.vectors import Vectors

WORDS = ["the", "ten", "tech", "개발"]
NEW_WORDS = NewWords(learn_spelling(WORDS), 0.1)


def known(counts: list[int] | None) -> Vectors:
    return Vectors(WORDS, np.eye(4, 2), counts)


def test_shares_are_priors_times_the_chances_of_slips() -> None:
    vectors = known([4000, 300, 200, 500])
    found = dict(rank_corrections(vectors, "teh", NEW_WORDS))
    chances = corrections("teh")
    shares = {"the": 0.8, "ten": 0.06, "tech": 0.04}
    weights = {word: share**FREQUENCY_EXPONENT * chances[word] for word, share in shares.items()}
    total = sum(weights.values()) + NEW_WORDS.weight(vectors, "teh")
    assert found == pytest.approx({word: weight / total for word, weight in weights.items()})
    assert sum(found.values()) < 1


@pytest.mark.parametrize("count", [1, 2, 20, 200])
def test_a_rare_word_is_less_likely_meant_than_its_share_says(count: int) -> None:
    vectors = Vectors(["xylem", "water"], np.eye(2), [count, round(10 / RARE_BELOW) - count])
    share = count * RARE_BELOW / 10
    prior = share**FREQUENCY_EXPONENT * min(1, share / RARE_BELOW) ** RARE_EXPONENT
    weight = prior * corrections("xyelm")["xylem"]
    new = NEW_WORDS.weight(vectors, "xyelm")
    found = dict(rank_corrections(vectors, "xyelm", NEW_WORDS))
    assert found == pytest.approx({"xylem": weight / (weight + new)}, rel=1e-4)


def test_a_known_stem_with_a_known_ending_is_rather_new() -> None:
    stems = [f"{a}{b}rk" for a in "bcdfghjlmp" for b in "aeiou"]
    words = [*stems, *(f"{stem}ed" for stem in stems), "worked"]
    vectors = Vectors(words, np.eye(len(words), 2), [*[9] * (len(words) - 1), 900])
    new = learn_new_words(vectors)
    share = new.spelling.endings["ed"]
    with_stem = Vectors([*words, "wirk"], np.eye(len(words) + 1, 2))
    ratio = new.weight(with_stem, "wirked") / new.weight(vectors, "wirked")
    assert ratio == pytest.approx(np.exp(KNOWN_STEM_WEIGHT * share))
    with_form = Vectors([*words, "wirked"], np.eye(len(words) + 1, 2))
    ratio = new.weight(with_form, "wirk") / new.weight(vectors, "wirk")
    assert ratio == pytest.approx(np.exp(KNOWN_FORM_WEIGHT * share))


def test_an_ending_that_seldom_follows_a_word_is_little_evidence_of_one() -> None:
    stems = [f"{a}{b}{c}t" for a in "bcdfghjlmp" for b in "aeiou" for c in "rn"]
    by_chance = [f"{stem[::-1]}h" for stem in stems]  # end in h, and their stems are no words
    words = [*stems, *(f"{stem}ed" for stem in stems), *(f"{stem}h" for stem in stems[:20])]
    vectors = Vectors([*words, *by_chance, "nort"], np.eye(len(words) + 101, 2))
    new = learn_new_words(vectors)
    assert new.spelling.endings == {"ed": 1.0, "h": pytest.approx(20 / 120)}
    weights = []
    for form in ("worth", "worted"):
        with_form = Vectors([*words, form], np.eye(len(words) + 1, 2))
        weights.append(new.weight(with_form, "wort"))
    assert weights[1] > 10 * weights[0]


def test_short_words_are_rather_new() -> None:
    shorter, longer = (NEW_WORDS._replace(spelling=learn_spelling([])) for _ in range(2))
    weights = [shorter.weight(known(None), "ab"), longer.weight(known(None), "abcdefgh")]
    chances = [
        shorter.spelling.probability(word) ** (1 / SPELLING_TEMPERATURE)
        for word in ("ab", "abcdefgh")
    ]
    assert weights[0] / chances[0] > 1000 * weights[1] / chances[1]


def test_new_words_are_as_common_as_the_rarest() -> None:
    assert learn_new_words(known([60, 20, 11, 9])).share == pytest.approx(0.2)
    assert learn_new_words(known([5, 5, 5, 5])).share == pytest.approx(1)
    assert 0 < learn_new_words(known(None)).share < 1
    assert learn_new_words(Vectors([], np.empty((0, 2)))).share == 0


def test_the_likeliest_comes_first() -> None:
    found = rank_corrections(known([4000, 300, 200, 2]), "teh", NEW_WORDS)
    assert found[0].word == "the"
    assert [one.share for one in found] == sorted((one.share for one in found), reverse=True)


def test_what_is_spelt_like_other_words_is_rather_new() -> None:
    vectors = known([400, 30, 20, 2])
    weights = [
        NewWords(learn_spelling(words), 0.1).weight(vectors, "teh")
        for words in (["하나", "둘"], ["meh", "tea"], ["teh", "tehs", "tehran"])
    ]
    assert weights == sorted(weights)
    assert weights[-1] > 5 * weights[0]


def test_where_nobody_counted_rank_stands_for_frequency() -> None:
    by_rank, counted = (
        rank_corrections(known(counts), "teh", NEW_WORDS)
        for counts in (None, [12 * 4, 12 * 2, 16, 12])
    )
    assert [one.word for one in by_rank] == [one.word for one in counted]
    assert [one.share for one in by_rank] == pytest.approx([one.share for one in counted], abs=0.1)


def test_a_word_far_from_all_has_no_reading() -> None:
    assert rank_corrections(known(None), "zebra", NEW_WORDS) == []
    assert rank_corrections(known([0, 0, 0, 0]), "teh", NEW_WORDS) == []
    assert rank_corrections(Vectors([], np.empty((0, 2))), "teh", NEW_WORDS) == []


def test_hangul_in_its_letters_is_read_alike() -> None:
    apart = unicodedata.normalize("NFD", "게발")
    assert rank_corrections(known(None), apart, NEW_WORDS) == rank_corrections(
        known(None), "게발", NEW_WORDS
    )
    assert rank_corrections(known(None), apart, NEW_WORDS)[0].word == "개발"


RIGHT = ["baker", "coder", "fishery", "hiking", "moored", "stirred", "valeria"]
MISTYPED = {
    "recieve": "receive",
    "jaapnese": "japanese",
    "becuase": "because",
    "langauge": "language",
    "ocmputer": "computer",
    "definately": "definitely",
}


def test_right_words_are_left_alone_and_mistyped_ones_understood() -> None:
    left_out = {*RIGHT, *MISTYPED}
    keys = [word for word in load("glove-6b-50d").keys[:30_000] if word not in left_out]
    vectors = Vectors(keys, np.zeros((len(keys), 1)))
    new = learn_new_words(vectors)
    for word in RIGHT:
        assert sum(one.share for one in rank_corrections(vectors, word, new)) < 0.5, word
    for typo, word in MISTYPED.items():
        found = rank_corrections(vectors, typo, new)[0]
        assert found.word == word
        assert found.share > 0.5
