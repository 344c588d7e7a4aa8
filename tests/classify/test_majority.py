"""The majority baseline: shares of labels, whatever the text."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

import malmoi as mm
from malmoi.reporting.reporter import SilentReporter
from tests.classify.worlds import labelled, multi_labelled

SETTINGS = mm.MajorityClassifier(test_share=0)


def trained(rows: object) -> mm.Classifier:
    return mm.train_classifier(rows, SETTINGS, reporter=SilentReporter()).classifier  # type: ignore[arg-type]


@pytest.mark.parametrize("labels", [2, 3])
def test_probabilities_are_those_of_scikit_learn(labels: int) -> None:
    rows = [row for i, row in enumerate(labelled(90, labels)) if i % labels or i % 4]
    texts, names = zip(*rows, strict=True)
    peer = DummyClassifier(strategy="prior").fit(texts, names)
    ours = trained(rows)
    np.testing.assert_allclose(ours.probabilities(["", "x"]), peer.predict_proba(["", "x"]))
    assert ours.predict(["x"]) == list(peer.predict(["x"]))
    assert ours.explain("goal team").contributions == ()


def test_several_labels_have_their_own_shares() -> None:
    rows = multi_labelled(50)
    ours = trained(rows)
    expected = [np.mean([label in own for _, own in rows]) for label in ours.labels]
    np.testing.assert_allclose(ours.probabilities(["x"])[0], expected)


def test_its_score_is_the_baseline() -> None:
    settings = mm.MajorityClassifier(test_share=0.3)
    scores = mm.train_classifier(labelled(), settings, reporter=SilentReporter()).scores
    assert scores is not None
    assert scores.accuracy.value == scores.baseline


def test_a_file_gives_back_the_same_classifier(tmp_path: Path) -> None:
    ours = trained(labelled())
    mm.save_classifier(ours, tmp_path / "saved")
    again = mm.load_classifier(tmp_path / "saved")
    assert again.describe() == ours.describe()
    np.testing.assert_array_equal(again.probabilities(["x"]), ours.probabilities(["x"]))
