"""Small scenes for the page's tests, made from vectors with the library's own neighbours."""

from collections.abc import Sequence

import numpy as np

from malmoi.keys import Keys
from malmoi.nearest.top_k import Metric, rank_rows
from malmoi.project.scene import Field, Int8Vectors, Near, Scene, Space
from malmoi.vectors import Vectors, l2_normalize

KOREAN = [
    "한국",
    "서울",
    "대한민국",
    "부산",
    "조선",
    "일본",
    "도쿄",
    "중국",
    "베이징",
    "미국",
    "영화",
    "배우",
    "감독",
    "사과",
    "배",
    "바다",
    "학교",
    "학생",
    "선생님",
    "강아지",
    "고양이",
    "하늘",
    "나무",
    "사랑",
    "행복",
    "슬픔",
    "기차",
    "비행기",
    "자동차",
    "음악",
]
ENGLISH = [
    "korea",
    "seoul",
    "king",
    "queen",
    "man",
    "woman",
    "movie",
    "actor",
    "apple",
    "pear",
    "sea",
    "school",
    "student",
    "dog",
]


def vectors_of(keys: Sequence[str], *, dim: int = 12, seed: int = 7) -> Vectors:
    """Keys with vectors drawn at random."""
    matrix = np.random.default_rng(seed).normal(size=(len(keys), dim)).astype(np.float32)
    return Vectors(Keys.of(keys), matrix)


def space_of(vectors: Vectors, *, name: str = "toy", k: int = 10, seed: int = 3) -> Space:
    """Places drawn at random; neighbours as they are; two fields."""
    count, chance = len(vectors), np.random.default_rng(seed)
    solid = chance.uniform(-1, 1, size=(count, 3)).astype(np.float32)
    metrics: tuple[Metric, ...] = ("cosine", "euclidean")
    near = {metric: near_of(vectors, k, metric) for metric in metrics}
    most = np.abs(vectors.matrix).max(axis=1)
    coarse = Int8Vectors(np.rint(vectors.matrix / most[:, None] * 127).astype(np.int8), most / 127)
    fields = (
        Field("frequency", "number", (1000 / np.arange(1, count + 1)).astype(np.float32)),
        Field("kind", "label", (np.arange(count) % 3).astype(np.int32), ("noun", "verb", "동사")),
    )
    return Space(
        name, list(vectors.keys), solid[:, :2], solid, "chance", 0.25, near, coarse, fields
    )


def near_of(vectors: Vectors, k: int, metric: Metric) -> Near:
    """The k nearest rows of each row, itself apart."""
    asked = l2_normalize(vectors.matrix) if metric == "cosine" else vectors.matrix
    found = rank_rows(vectors, asked, k + 1, metric)
    other = found.rows != np.arange(len(vectors))[:, None]
    other &= np.cumsum(other, axis=1) <= min(k, len(vectors) - 1)
    shape = (len(vectors), -1)
    return Near(
        found.rows[other].reshape(shape).astype(np.uint32), found.scores[other].reshape(shape)
    )


def scene_of(keys: Sequence[str] = (*KOREAN, *ENGLISH)) -> Scene:
    """A page of words."""
    return Scene("Words", (space_of(vectors_of(keys)),))
