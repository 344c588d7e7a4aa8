"""Statistics over resamples: equal to scikit-learn and SciPy on each resample written out."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, f1_score, v_measure_score

from malmoi.evaluate.scores import RESAMPLES, resample_weights
from malmoi.evaluate.suites.differences import Difference, compare, paired_difference
from malmoi.evaluate.suites.logistic_regression import fit_probe
from malmoi.evaluate.suites.statistics import (
    AveragePrecision,
    MacroF1,
    MeanValue,
    SpearmanCorrelation,
    Statistic,
    VMeasure,
)
from malmoi.evaluate.suites.task import Measure

N = 60
RANDOM = np.random.default_rng(3)
SCORES = np.round(RANDOM.normal(size=N), 1)  # with ties
THEIRS = np.round(SCORES + RANDOM.normal(size=N), 1)
LABELS = THEIRS > 0.3
CLASSES, CLUSTERS = RANDOM.integers(4, size=N), RANDOM.integers(5, size=N)
GUESSES = np.where(RANDOM.random(N) < 0.6, CLASSES, RANDOM.integers(4, size=N))
Rows = "np.ndarray[tuple[int], np.dtype[np.int64]]"
CASES: dict[str, tuple[Statistic, Callable[[Rows], float]]] = {
    "mean": (MeanValue(SCORES), lambda rows: float(SCORES[rows].mean())),
    "spearman": (
        SpearmanCorrelation(SCORES, THEIRS),
        lambda rows: float(spearmanr(SCORES[rows], THEIRS[rows]).statistic),
    ),
    "average precision": (
        AveragePrecision(SCORES, LABELS),
        lambda rows: float(average_precision_score(LABELS[rows], SCORES[rows])),
    ),
    "v measure": (
        VMeasure(CLASSES, CLUSTERS),
        lambda rows: float(v_measure_score(CLASSES[rows], CLUSTERS[rows])),
    ),
    "f1": (
        MacroF1(CLASSES, GUESSES),
        lambda rows: float(f1_score(CLASSES[rows], GUESSES[rows], average="macro")),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_resample_is_scored_as_the_peer_scores_it(name: str) -> None:
    statistic, peer = CASES[name]
    weights = next(resample_weights(N, seed=1))[:25]
    rows = [np.repeat(np.arange(N), row.astype(int)) for row in weights]
    expected = [peer(each) for each in rows]
    np.testing.assert_allclose(statistic(weights), expected, atol=1e-9)
    np.testing.assert_allclose(statistic(np.ones((1, N))), [peer(np.arange(N))], atol=1e-9)


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=30))
def test_average_precision_is_that_of_scikit_learn(rows: list[tuple[int, bool]]) -> None:
    scores, labels = np.array([a for a, _ in rows], float), np.array([b for _, b in rows])
    found = AveragePrecision(scores, labels)(np.ones((1, len(rows))))[0]
    if labels.any():
        assert found == pytest.approx(average_precision_score(labels, scores), abs=1e-12)
    else:
        assert np.isnan(found)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_v_measure_is_that_of_scikit_learn(rows: list[tuple[int, int]]) -> None:
    classes, clusters = (np.array(side) for side in zip(*rows, strict=True))
    found = VMeasure(classes, clusters)(np.ones((1, len(rows))))[0]
    assert found == pytest.approx(v_measure_score(classes, clusters), abs=1e-9)


def test_questions_of_a_group_are_resampled_together() -> None:
    values, groups = np.array([0.0, 0, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 1, 1])
    draws = Measure("accuracy", MeanValue(values), groups).draws(seed=0)
    assert len(draws) == RESAMPLES
    assert {*draws.tolist()} == {0.0, 0.5, 1.0}
    alone = Measure("accuracy", MeanValue(values)).draws(seed=0)
    assert len({*np.round(alone, 6).tolist()}) > 3


def test_a_score_has_its_interval_and_count() -> None:
    measure = Measure("accuracy", MeanValue(np.array([1.0, 0, 1, 1])), answered=3)
    score = measure.score(measure.draws(0))
    assert (score.value, score.answered, score.total) == (0.75, 3, 4)
    assert score.low is not None
    assert score.high is not None
    assert score.low <= 0.75 <= score.high
    undefined = Measure("ap", AveragePrecision(np.zeros(3), np.zeros(3, bool)))
    assert undefined.score(undefined.draws(0)).value is None


def test_the_interval_of_a_biased_metric_holds_its_value() -> None:
    statistic = VMeasure(CLASSES, CLUSTERS)  # by chance, which repeated questions hide
    plain, shifted = (Measure("v", statistic, is_biased=biased) for biased in (False, True))
    value = shifted.value() or 0.0
    assert np.percentile(plain.draws(0), 2.5) > value
    score = shifted.score(shifted.draws(0))
    assert (score.low or 1.0) < value < (score.high or 0.0)
    assert shifted.draws(0).std() == pytest.approx(plain.draws(0).std())


def test_a_difference_is_paired() -> None:
    hard = RANDOM.random(400)  # how hard each question is, for both models
    one, other = (hard > 0.5).astype(float), (hard > 0.47).astype(float)
    measures = [Measure("accuracy", MeanValue(each)) for each in (one, other)]
    draws = [measure.draws(0) for measure in measures]
    values = (float(one.mean()), float(other.mean()))
    difference = paired_difference(values, (draws[0], draws[1]))
    assert difference is not None
    assert difference.verdict == "better"
    assert difference.value == pytest.approx(values[1] - values[0])
    scores = [measure.score(drawn) for measure, drawn in zip(measures, draws, strict=True)]
    assert (scores[0].high or 0) > (scores[1].low or 1)  # though the intervals overlap
    back = paired_difference((values[1], values[0]), (draws[1], draws[0]))
    assert back is not None
    assert back.verdict == "worse"
    assert Difference(value=0.1, low=-0.1, high=0.2).verdict == "no difference"
    assert paired_difference((None, 1.0), (draws[0], draws[1])) is None


def test_the_comparison_of_correlations_is_the_paired_difference() -> None:
    both = [SpearmanCorrelation(each, THEIRS) for each in (SCORES, THEIRS + 0.1)]
    draws = [Measure("spearman", each).draws(5) for each in both]
    found = compare(SCORES, THEIRS + 0.1, THEIRS, seed=5)
    assert found is not None
    low, high = np.percentile(draws[1] - draws[0], [2.5, 97.5])
    assert (found.low, found.high) == pytest.approx((low, high))


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_the_probe_is_that_of_scikit_learn(classes: int) -> None:
    random = np.random.default_rng(classes)
    centres = random.normal(size=(classes, 12))
    labels = random.integers(classes, size=300)
    labels[:classes] = np.arange(classes)
    matrix = (centres[labels] + 1.5 * random.normal(size=(300, 12))).astype(np.float32)
    peer = LogisticRegression(C=1, tol=1e-8, max_iter=2000).fit(matrix.astype(float), labels)
    probe = fit_probe(matrix, labels)
    ours, theirs = probe.weights, peer.coef_.T
    np.testing.assert_allclose(ours - ours.mean(1, keepdims=classes > 2) * (classes > 2),
                               theirs - theirs.mean(1, keepdims=classes > 2) * (classes > 2),
                               atol=0.02)  # fmt: skip
    agreed = probe.predict(matrix) == peer.predict(matrix)
    assert agreed.mean() > 0.99


def test_a_probe_of_vectors_that_are_all_equal_predicts_the_larger_class() -> None:
    probe = fit_probe(np.ones((9, 3), np.float32), np.array([0, 1, 1, 1, 1, 1, 0, 0, 1]))
    assert probe.predict(np.ones((2, 3), np.float32)).tolist() == [1, 1]
