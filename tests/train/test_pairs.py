from collections import Counter

import pytest

from malmoi.errors import InvalidArgumentError
from malmoi.train.word2vec.pairs import TrainingPair, labelled_pairs, window_pairs

FAT_CAT = ["The", "fat", "cat", "sat", "on", "the", "mat"]
THOU = "Thou shalt not make a machine in the likeness of a human mind"


def test_the_fat_cat_with_a_window_of_two() -> None:
    pairs = [(word, other) for word, other, _ in window_pairs(FAT_CAT, 2)]
    assert pairs == [
        ("The", "fat"), ("The", "cat"),
        ("fat", "The"), ("fat", "cat"), ("fat", "sat"),
        ("cat", "The"), ("cat", "fat"), ("cat", "sat"), ("cat", "on"),
        ("sat", "fat"), ("sat", "cat"), ("sat", "on"), ("sat", "the"),
        ("on", "cat"), ("on", "sat"), ("on", "the"), ("on", "mat"),
        ("the", "sat"), ("the", "on"), ("the", "mat"),
        ("mat", "on"), ("mat", "the"),
    ]  # fmt: skip


def test_thou_shalt_not_make_a_machine() -> None:
    of_not = [pair for pair in window_pairs(THOU.split(), 2) if pair.input == "not"]
    assert of_not == [
        TrainingPair("not", "Thou", 1),
        TrainingPair("not", "shalt", 1),
        TrainingPair("not", "make", 1),
        TrainingPair("not", "a", 1),
    ]


def test_each_true_pair_is_followed_by_its_negatives() -> None:
    pairs = labelled_pairs(THOU.split(), 2, 2, seed=7)
    assert [pair.label for pair in pairs[:6]] == [1, 0, 0, 1, 0, 0]
    assert [pair for pair in pairs if pair.label] == window_pairs(THOU.split(), 2)
    for place in range(0, len(pairs), 3):
        true, *drawn = pairs[place : place + 3]
        assert all(pair.input == true.input and pair.output != true.output for pair in drawn)


def test_the_seed_decides_what_is_drawn() -> None:
    assert labelled_pairs(THOU.split(), seed=1) == labelled_pairs(THOU.split(), seed=1)
    assert labelled_pairs(THOU.split(), seed=1) != labelled_pairs(THOU.split(), seed=2)


def test_frequent_words_are_drawn_more_often() -> None:
    tokens = ["often"] * 80 + ["seldom"] * 5 + ["x"]
    drawn = Counter(pair.output for pair in labelled_pairs(tokens, 1, 20) if not pair.label)
    assert drawn["seldom"] / drawn["x"] == pytest.approx(5**0.75, rel=0.5)


@pytest.mark.parametrize(
    ("tokens", "settings"),
    [
        (FAT_CAT, {"window": 0}),
        (FAT_CAT, {"negative_samples": -1}),
        (["a", "a"], {"negative_samples": 1}),
    ],
)
def test_what_cannot_be_is_refused(tokens: list[str], settings: dict[str, int]) -> None:
    with pytest.raises(InvalidArgumentError):
        labelled_pairs(tokens, **settings)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"ns_exponent": float("nan")}, "ns_exponent is nan"),
        ({"ns_exponent": 1e6}, "ns_exponent is 1000000.0"),
        ({"ns_exponent": -11.0}, "ns_exponent is -11.0"),
        ({"seed": -1}, "seed -1"),
    ],
)
def test_draws_that_cannot_be_are_refused(settings: dict[str, float], said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        labelled_pairs(["a", "b", "b"], **settings)  # type: ignore[arg-type]


def test_a_string_is_no_list_of_words() -> None:
    for pairs in (window_pairs, labelled_pairs):
        with pytest.raises(InvalidArgumentError, match="'the fat cat' is a string"):
            pairs("the fat cat")
