"""Senses are found, counted and named; silhouettes are scikit-learn's."""

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

import malmoi as mm
from malmoi.project.points.keywords import cluster_keywords
from malmoi.project.points.sense_points import find_senses, sense_points, separation

MONEY = ["loan", "account", "interest", "branch"]
WATER = ["river", "mud", "willow", "boat"]


def texts_of(words: list[str], count: int, chance: np.random.Generator) -> list[str]:
    return [f"the bank of {' and '.join(chance.choice(words, 2))} there" for _ in range(count)]


def test_silhouette_is_that_of_scikit_learn() -> None:
    chance = np.random.default_rng(1)
    matrix = chance.normal(size=(80, 4)).astype(np.float32)
    which = chance.integers(0, 3, 80).astype(np.int32)
    which[:3] = 3, 4, 3  # a cluster of one among them
    expected = silhouette_score(matrix.astype(np.float64), which)
    assert separation(matrix, which) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_as_many_senses_as_there_are_islands(count: int) -> None:
    chance = np.random.default_rng(count)
    truth = chance.integers(0, count, 200)
    matrix = chance.normal(size=(count, 30))[truth] * 3 + chance.normal(size=(200, 30))
    which, apart = find_senses(matrix.astype(np.float32))
    assert len(set(zip(truth.tolist(), which.tolist(), strict=True))) == count
    assert apart > 0.3


def test_one_cloud_is_one_sense() -> None:
    cloud = np.random.default_rng(0).normal(size=(150, 30)) + 4
    which, apart = find_senses(cloud.astype(np.float32))
    assert not which.any()
    assert apart == 0


def test_senses_are_counted_and_named_by_their_words() -> None:
    chance = np.random.default_rng(2)
    texts = texts_of(MONEY, 30, chance) + texts_of(WATER, 12, chance)
    centres = np.repeat([[5.0, 0, 0, 0], [0, 5, 0, 0]], [30, 12], axis=0)
    matrix = (centres + chance.normal(size=(42, 4)) * 0.3).astype(np.float32)
    points = sense_points("bank", ["bank"] * 42, matrix, texts)
    (field,) = points.fields
    first, second = field.labels
    assert np.bincount(field.values).tolist() == [30, 12]
    assert set(first.split(", ")) <= set(MONEY)
    assert set(second.split(", ")) <= set(WATER)
    assert "42 occurrences of 'bank' in 2 senses" in points.notes[0]


def test_cluster_keywords_of_korean_are_nouns() -> None:
    pytest.importorskip("kiwipiepy")
    texts = [
        "배를 타고 바다로 갔다",
        "배가 바다에 떴다",
        "배가 달고 과일 중에 맛있다",
        "과일은 배가 좋다",
    ]
    names = cluster_keywords(texts, np.array([0, 0, 1, 1], np.int32), leave_out={"배"}, count=1)
    assert names == ["바다", "과일"]


def test_a_word_that_hardly_occurs_is_refused() -> None:
    with pytest.raises(mm.InvalidArgumentError, match="bank has 0 vectors"):
        sense_points("bank", [], np.empty((0, 4), np.float32), [])
