import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, spearmanr  # type: ignore[import-untyped]

from malmoi.evaluate.scores import Score, accuracy, correlation, interval, resampled, spearman

few_values = st.lists(
    st.tuples(st.integers(0, 5), st.floats(-1, 1, allow_subnormal=False)), min_size=3, max_size=40
)


@given(few_values)
def test_spearman_is_scipys_ties_and_all(pairs: list[tuple[int, float]]) -> None:
    one, other = np.array(pairs, dtype=np.float64).T
    ours = spearman(one, other)
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert ours is None
    else:
        assert ours == pytest.approx(float(spearmanr(one, other).statistic), abs=1e-12)


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_pairs_have_no_spearman(count: int) -> None:
    assert spearman(np.ones(count), np.ones(count)) is None


def test_each_resample_is_ranked_anew_as_scipy_would() -> None:
    random = np.random.default_rng(4)
    ours, theirs = random.normal(size=30).round(1), random.normal(size=30)
    drawn = np.random.default_rng(7).integers(30, size=(1000, 30))
    values = resampled(ours[np.newaxis], theirs, seed=7)[0]
    for i in (0, 1, 500, 999):
        expected = spearmanr(ours[drawn[i]], theirs[drawn[i]]).statistic
        assert values[i] == pytest.approx(float(expected), abs=1e-12)


def test_the_interval_holds_the_value_and_narrows_with_more_pairs() -> None:
    random = np.random.default_rng(5)
    people = random.normal(size=2000)
    ours = people + random.normal(size=2000)
    few, many = (correlation(ours[:n], people[:n], n) for n in (50, 2000))
    for score in (few, many):
        assert score.low is not None
        assert score.high is not None
        assert score.value is not None
        assert score.low < score.value < score.high
    assert few == correlation(ours[:50], people[:50], 50), "the same seed, the same interval"
    assert few.high - few.low > 3 * (many.high - many.low)  # type: ignore[operator]


def test_an_interval_of_nothing_is_none() -> None:
    assert interval(np.full(5, np.nan)) == (None, None)


@given(st.integers(1, 500), st.floats(0, 1))
def test_accuracy_has_wilsons_interval(answered: int, share: float) -> None:
    correct = round(answered * share)
    score = accuracy(correct, answered, 1000)
    expected = binomtest(correct, answered).proportion_ci(method="wilson")
    assert score.value == correct / answered
    assert score.low == pytest.approx(expected.low, abs=1e-9)
    assert score.high == pytest.approx(expected.high, abs=1e-9)


def test_nothing_answered_has_no_accuracy() -> None:
    assert accuracy(0, 0, 7) == Score(value=None, answered=0, total=7)
    assert accuracy(0, 0, 7).unanswered == 1
    assert not accuracy(0, 0, 7).fits


def test_a_few_answers_out_of_many_do_not_fit() -> None:
    assert not Score(value=1.0, answered=5, total=353).fits
    assert Score(value=1.0, answered=5, total=10).fits
