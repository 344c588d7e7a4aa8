"""How likely a word is, by the letters of others."""

from collections import Counter
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from malmoi.typos.char_lm import (
    MAX_SYMBOLS,
    MIN_ENDING_WORDS,
    ORDER,
    SYLLABLE_ORDER,
    SpellingModel,
    learn_endings,
    learn_ngrams,
    learn_spelling,
)
from malmoi.typos.edits import keystrokes

WORDS = ["fish", "fishing", "fisher", "shine", "먹어", "먹고", "멍", "a"]


def naive(words: list[str], asked: str, order: int, split: Callable[[str], str]) -> float:
    """Witten and Bell's formula, one stroke after another."""
    letters = len(set("".join(map(split, words)))) + 1  # and the edge of a word

    def padded(word: str) -> str:
        return "^" * (order - 1) + split(word) + "$"

    counts: Counter[tuple[str, str]] = Counter()
    for word in map(padded, words):
        for i in range(order - 1, len(word)):
            counts.update((word[i - length : i], word[i]) for length in range(order))
    probability, text = 1.0, padded(asked)
    for i in range(order - 1, len(text)):
        found = 1 / (letters + 1)
        for length in range(order):
            context = text[i - length : i]
            after = [count for (one, _), count in counts.items() if one == context]
            if after:
                seen = counts[context, text[i]]
                found = (seen + len(after) * found) / (sum(after) + len(after))
        probability *= found
    return probability


@pytest.mark.parametrize("word", [*WORDS, "fishes", "먹", "shin", "zebra", "f", "ing", "물고기"])
def test_chances_are_witten_and_bells(word: str) -> None:
    by_keystrokes = learn_ngrams(WORDS, ORDER)
    assert by_keystrokes.probability(word) == pytest.approx(
        naive(WORDS, word, ORDER, keystrokes), rel=1e-9
    )
    by_syllables = learn_ngrams(WORDS, SYLLABLE_ORDER, by_keystrokes=False)
    expected = naive(WORDS, word, SYLLABLE_ORDER, str)
    assert by_syllables.probability(word) == pytest.approx(expected, rel=1e-9)


def test_hangul_is_judged_by_strokes_and_by_syllables() -> None:
    spelling = learn_spelling(WORDS)
    both = spelling.by_keystrokes.probability("먹지"), spelling.by_syllables.probability("먹지")
    assert spelling.probability("먹지") == pytest.approx((both[0] * both[1]) ** 0.5)
    assert spelling.probability("fishy") == spelling.by_keystrokes.probability("fishy")


def test_endings_are_what_makes_words_of_many_words() -> None:
    stems = [f"stem{i}x" for i in range(MIN_ENDING_WORDS)]
    words = [*stems, *(f"{stem}ed" for stem in stems), *(f"{stem}ly" for stem in stems[1:])]
    assert learn_endings(words) == {"ed": 1.0}
    assert learn_endings([*words, "red"]) == {"ed": MIN_ENDING_WORDS / (MIN_ENDING_WORDS + 1)}
    spelling = learn_spelling(words)
    assert list(spelling.stems("walked")) == [("walk", 1.0)]
    assert list(spelling.stems("ed")) == list(spelling.stems("walkly")) == []


def test_all_words_together_have_a_chance_of_1_at_most() -> None:
    spelling = learn_spelling(["a", "b", "ab"])
    totals = [
        sum(spelling.probability("".join(word)) for word in product("ab", repeat=length))
        for length in range(1, 9)
    ]
    assert 0.9 < sum(totals) < 1
    assert totals == sorted(totals, reverse=True)


def test_what_looks_like_a_word_is_likelier() -> None:
    spelling = learn_spelling(WORDS)
    assert spelling.probability("fishin") > 100 * spelling.probability("nihsif")
    assert spelling.probability("먹지") > 10 * spelling.probability("뷁지")


def test_nothing_is_known_of_no_words() -> None:
    nothing = learn_spelling([])
    assert isinstance(nothing, SpellingModel)
    assert 0 < nothing.probability("ab") < nothing.probability("a") <= 1


def test_more_strokes_than_there_are_numbers_for_count_as_one() -> None:
    words = [chr(0x4E00 + i) for i in range(MAX_SYMBOLS + 50)] + ["\u4e00\u4e01"] * 3
    spelling = learn_spelling(words)
    assert len(spelling.by_keystrokes.letters) == MAX_SYMBOLS - 1
    chances = [spelling.probability(word) for word in words[:: MAX_SYMBOLS // 20]]
    assert np.all(np.isfinite(chances))
    assert min(chances) > 0
