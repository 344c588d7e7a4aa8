import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from malmoi.keys import Keys
from malmoi.query.suggestions import edit_distance, near_spellings

WORDS = st.text("abcde", max_size=8)


def naive_distance(one: str, other: str) -> int:
    """Optimal string alignment, by its recursive definition."""
    table = np.zeros((len(one) + 1, len(other) + 1), dtype=int)
    table[:, 0] = np.arange(len(one) + 1)
    table[0, :] = np.arange(len(other) + 1)
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            choices = [
                table[i - 1, j] + 1,
                table[i, j - 1] + 1,
                table[i - 1, j - 1] + (one[i - 1] != other[j - 1]),
            ]
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                choices.append(table[i - 2, j - 2] + 1)
            table[i, j] = min(choices)
    return int(table[-1, -1])


@given(WORDS, WORDS)
def test_distance_is_that_of_the_definition(one: str, other: str) -> None:
    assert edit_distance(one, other, 20) == naive_distance(one, other)
    assert edit_distance(one, other, 1) == min(naive_distance(one, other), 2)


def test_korean_is_compared_by_letters_not_syllables() -> None:
    keys = Keys.of(["나라", "그램", "그림", "크림"])
    assert near_spellings(keys, "그린")[0] == "그림"  # one letter off; 그램 is two


def test_typos_find_their_word_among_many() -> None:
    keys = Keys.of([*(f"filler{i}" for i in range(3000)), "electrofishing", "korea", "한국어"])
    assert near_spellings(keys, "electrofihsing") == ["electrofishing"]
    assert near_spellings(keys, "koera")[0] == "korea"
    assert near_spellings(keys, "한국아")[0] == "한국어"


def test_words_far_from_all_others_have_no_spelling_near() -> None:
    assert near_spellings(Keys.of(["alpha", "beta"]), "omega-three") == []
    assert near_spellings(Keys.of([]), "word") == []
    assert near_spellings(Keys.of([""]), "") == [""]
