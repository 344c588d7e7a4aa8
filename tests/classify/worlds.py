"""Small sets of labelled texts that can be learned."""

import random

import numpy as np

from malmoi.vectors import Vectors

PARTS = {
    "sport": "goal match team score league 축구 경기 선수",
    "food": "bread soup taste cook kitchen 국수 김치 요리",
    "music": "song band guitar concert melody 노래 가수 음악",
}
COMMON = "the a of and is today very 그리고 오늘"


def labelled(count: int = 120, labels: int = 3, seed: int = 1) -> list[tuple[str, str]]:
    """Texts of a few words of their label and a few that any text has; no text twice."""
    chance, rows = random.Random(seed), dict[str, str]()
    names = list(PARTS)[:labels]
    while len(rows) < count:
        label = names[len(rows) % labels]
        words = chance.choices(PARTS[label].split(), k=3) + chance.choices(COMMON.split(), k=4)
        chance.shuffle(words)
        rows[" ".join(words)] = label
    return list(rows.items())


def multi_labelled(count: int = 200, seed: int = 1) -> list[tuple[str, list[str]]]:
    """Texts with one or two labels."""
    chance, rows = random.Random(seed), dict[str, list[str]]()
    while len(rows) < count:
        labels = sorted(chance.sample(list(PARTS), chance.choice([1, 2])))
        words = [word for label in labels for word in chance.choices(PARTS[label].split(), k=3)]
        words += chance.choices(COMMON.split(), k=3)
        chance.shuffle(words)
        rows[" ".join(words)] = labels
    return list(rows.items())


def word_vectors(dim: int = 24, seed: int = 1) -> Vectors:
    """A vector at random for each word of these texts, so that their averages can be learned."""
    words = " ".join([*PARTS.values(), COMMON]).split()
    matrix = np.random.default_rng(seed).normal(size=(len(words), dim)).astype(np.float32)
    return Vectors(words, matrix)
