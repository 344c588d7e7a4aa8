import numpy as np
import numpy.typing as npt
import pytest
from gensim.models import KeyedVectors
from hypothesis import given
from hypothesis import strategies as st

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError, UnknownWordError
from malmoi.nearest import top_k as ranking
from malmoi.nearest.top_k import Metric, rank_rows, top_k
from malmoi.query.neighbours import neighbours
from malmoi.vectors import Vectors, l2_normalize
from tests.query.worlds import capitals, random_vectors


def as_gensim(vectors: Vectors) -> KeyedVectors:
    peer = KeyedVectors(vectors.dim)
    peer.add_vectors(list(vectors.keys), vectors.matrix)
    return peer


def all_distances(
    vectors: Vectors, direction: Float32Array, metric: Metric
) -> npt.NDArray[np.float64]:
    """The naive twin: smaller is nearer."""
    rows = vectors.matrix.astype(np.float64)
    if metric == "euclidean":
        return np.asarray(np.linalg.norm(rows - direction, axis=1))
    near = rows @ direction
    if metric == "cosine":
        near /= np.linalg.norm(rows, axis=1) * np.linalg.norm(direction)
    return -near


def test_neighbours_are_gensims() -> None:
    vectors = random_vectors()
    peer = as_gensim(vectors)
    for word in ("w0", "w7", "w499"):
        ours = neighbours(vectors, word, 20)
        theirs = peer.most_similar(word, topn=20)
        assert [one.key for one in ours] == [key for key, _ in theirs]
        np.testing.assert_allclose([one.score for one in ours], [s for _, s in theirs], atol=1e-6)


def test_many_at_once_are_the_same_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "TILE_ROWS", 37)
    monkeypatch.setattr(ranking, "TILE_DIRECTIONS", 5)
    vectors = random_vectors()
    words = [f"w{i}" for i in range(0, 500, 17)]
    together = neighbours(vectors, words, 8)
    assert together == [neighbours(vectors, word, 8) for word in words]


@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
@pytest.mark.parametrize("directions", [1, 3])
def test_rows_are_the_nearest_by_every_metric(metric: Metric, directions: int) -> None:
    vectors = random_vectors(seed=3)
    asked = random_vectors(directions, seed=4).matrix
    ranked = rank_rows(vectors, l2_normalize(asked) if metric == "cosine" else asked, 15, metric)
    for direction, rows in zip(asked, ranked.rows, strict=True):
        distances = all_distances(vectors, direction, metric)
        np.testing.assert_array_equal(rows, np.argsort(distances, kind="stable")[:15])


def test_distances_come_in_rising_order_and_are_exact() -> None:
    vectors = capitals()
    found = neighbours(vectors, "한국", 3, metric="euclidean")
    assert found[0].score == pytest.approx(1.0)
    assert [one.score for one in found] == sorted(one.score for one in found)


def test_asking_again_goes_through_the_screen_and_answers_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ranking, "MIN_QUANTIZED_SIZE", 0)
    vectors = random_vectors(3001, 20)
    vectors.matrix[2017] = 0
    expected = [neighbours(vectors, [f"w{i}", f"w{i}"], 9)[0] for i in range(20)]
    asked = [neighbours(vectors, f"w{i}", 9) for i in range(20)]
    assert ranking._int8_indexes[vectors] is not None
    assert asked == expected


@given(st.lists(st.sampled_from([0.0, 0.5, 0.25, -1.0, 2.0]), min_size=1, max_size=400))
def test_top_is_a_stable_sort(values: list[float]) -> None:
    scores = np.array(values, dtype=np.float32)
    for k in (1, 2, len(values)):
        expected = np.argsort(-scores, kind="stable")[:k]
        np.testing.assert_array_equal(top_k(scores, k), expected)


def test_the_word_itself_is_left_out_but_a_vector_is_not_a_word() -> None:
    vectors = capitals()
    assert "한국" not in [one.key for one in neighbours(vectors, "한국")]
    assert neighbours(vectors, vectors["한국"], 1)[0].key == "한국"


def test_more_neighbours_than_words_gives_all_of_them() -> None:
    assert len(neighbours(capitals(), "한국", 100)) == len(capitals()) - 1


def test_only_the_most_frequent_are_looked_through() -> None:
    vectors = Vectors(["rare", "a", "b"], np.eye(3), np.array([1, 5, 9]))
    found = neighbours(vectors, "rare", restrict_vocab=2)
    assert {one.key for one in found} == {"a", "b"}


def test_unknown_words_are_told_with_near_spellings() -> None:
    vectors = Vectors(["seoul", "그림", "사과"], np.eye(3))
    with pytest.raises(UnknownWordError, match="did you mean seoul"):
        neighbours(vectors, "seoull")
    with pytest.raises(UnknownWordError, match="did you mean 그림"):
        neighbours(vectors, "그린")
    with pytest.raises(UnknownWordError, match=r"^'zzzzzz' is not in the vectors$"):
        neighbours(vectors, "zzzzzz")


def test_questions_that_make_no_sense_are_refused() -> None:
    vectors = Vectors(["zero", "one"], [[0, 0], [1, 1]])
    with pytest.raises(InvalidArgumentError, match="all zeros"):
        neighbours(vectors, "zero")
    with pytest.raises(InvalidArgumentError, match="k must be at least 1; got 0"):
        neighbours(vectors, "one", 0)
    with pytest.raises(InvalidArgumentError, match="shape"):
        neighbours(vectors, np.ones(3, np.float32))
    with pytest.raises(InvalidArgumentError, match="metric must be one of"):
        neighbours(vectors, "one", metric="manhattan")  # type: ignore[call-overload]
    with pytest.raises(InvalidArgumentError, match="no vectors"):
        neighbours(vectors[:0], np.ones(2, np.float32))
    assert neighbours(vectors, []) == []
    for few in (0, -1):
        with pytest.raises(
            InvalidArgumentError, match=f"restrict_vocab must be at least 1; got {few}"
        ):
            neighbours(vectors, "one", restrict_vocab=few)


def test_words_in_an_array_are_words() -> None:
    vectors = capitals()
    expected = neighbours(vectors, ["한국", "일본"], 2)
    assert neighbours(vectors, np.array(["한국", "일본"]), 2) == expected
    assert neighbours(vectors, np.array(["한국", "일본"], object), 2) == expected


@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
def test_a_row_that_holds_no_number_is_named_and_never_the_nearest(metric: Metric) -> None:
    matrix = np.random.default_rng(0).standard_normal((200, 4))
    matrix[70, 1] = np.nan
    vectors = Vectors([f"w{i}" for i in range(200)], matrix)
    for asked in ("w0", ["w0", "w1"], "w70"):
        with pytest.raises(InvalidArgumentError, match="the vector of 'w70' holds nan or inf"):
            neighbours(vectors, asked, metric=metric)
    rest = vectors.take(np.flatnonzero(np.isfinite(matrix).all(axis=1)))
    assert len(neighbours(rest, "w0", 300, metric=metric)) == 198
