"""Training: what is learned, how it is tested, and what odd data give."""

import unicodedata
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, f1_score

import malmoi as mm
from malmoi.classify.base.calibration import (
    calibration_error,
    cross_entropy,
    find_temperature,
    to_probabilities,
)
from malmoi.classify.ngrams.features import COMPILED_CHARACTERS
from malmoi.classify.ngrams.linear_classifier import LinearClassifier
from malmoi.classify.result import measure
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.data.labelled_set import read_labelled_set
from tests.classify.worlds import labelled, multi_labelled
from tests.recording_reporter import RecordingReporter

ONE = mm.NgramClassifier(threads=1)
SILENT = SilentReporter()
WAYS = [
    {},
    {"loss": "one_versus_rest"},
    {"optimizer": "adagrad"},
    {"words": 2, "jamo": 5},
    {"balanced": True},
]


def trained(rows: object, **settings: object) -> mm.ClassifierResult:
    own = mm.NgramClassifier(**{"threads": 1, "test_share": 0.25} | settings)  # type: ignore[arg-type]
    return mm.train_classifier(rows, own, reporter=SILENT)  # type: ignore[arg-type]


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("settings", WAYS, ids=str)
def test_a_learnable_world_is_learned(labels: int, settings: dict[str, object]) -> None:
    result = trained(labelled(labels=labels), **settings)
    assert result.scores is not None
    assert (result.scores.accuracy.value or 0) > 0.9 > result.scores.baseline
    shares = result.classifier.probabilities(["goal team", "", "국수"])
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-9)
    assert result.classifier.predict(["goal 축구 team", "bread 김치 soup"]) == ["sport", "food"]


def test_several_labels_of_a_text() -> None:
    result = trained(multi_labelled(), epochs=20)
    assert result.classifier.multi_label
    assert result.scores is not None
    assert result.scores.macro_f1 > 0.9
    assert result.classifier.predict(["goal match bread soup", "guitar song"]) == [
        ("food", "sport"),
        ("music",),
    ]


def test_one_thread_gives_the_same_bits_and_another_seed_others() -> None:
    first, again, other = (
        trained(labelled(), seed=seed).classifier.probabilities(["goal soup", "오늘"])
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_scores_are_those_of_scikit_learn() -> None:
    settings = mm.NgramClassifier(threads=1, epochs=1, learning_rate=0.01, test_share=0)
    rows = [(text[:12], label) for text, label in labelled(200)]
    model = mm.train_classifier(rows[:100], settings, reporter=SILENT).classifier
    train, test = (read_labelled_set(part, reporter=SILENT) for part in
                   (rows[:100], rows[100:]))  # fmt: skip
    scores, found = measure(model, test, train), model.predict(test.texts)
    expected = [test.names[i] for i in test.labels.items]
    assert scores.accuracy.value == pytest.approx(accuracy_score(expected, found))
    assert scores.macro_f1 == pytest.approx(f1_score(expected, found, average="macro"))
    assert scores.accuracy.value != 1


def test_an_explanation_adds_up_to_the_score() -> None:
    model = trained(labelled(labels=2)).classifier
    shown = model.explain("GOAL today 축구\t축구")
    total = shown.bias + sum(
        one.value if one.label == shown.label else -one.value for one in shown.contributions
    )
    assert 1 / (1 + np.exp(-total)) == pytest.approx(shown.probability, rel=1e-6)
    assert shown.label == "sport"
    (whole,) = [one for one in shown.contributions if one.part.strip() == "축구"][:1]
    assert len(whole.spans) == 2
    assert all(shown.text[a:b].strip() == "축구" for a, b in whole.spans)
    assert "speaks for" in repr(shown)
    assert "<table" in shown._repr_html_()
    words = shown.by_word()
    assert words[0].part in ("GOAL", "축구")
    assert {one.part for one in words} == {"GOAL", "today", "축구"}
    assert all(one.label == "sport" for one in words)
    assert sum(one.value for one in words) < total - shown.bias  # blanks have a share too


def test_no_numba_gives_the_same_bits() -> None:
    model = trained(labelled()).classifier
    texts = [text for text, _ in labelled(900, seed=3)]
    assert sum(map(len, texts)) > COMPILED_CHARACTERS
    singly = np.concatenate([model.probabilities([text]) for text in texts])
    np.testing.assert_array_equal(model.probabilities(texts), singly)


def test_nfd_and_case_do_not_matter() -> None:
    model = trained(labelled()).classifier
    text = "축구 경기 Goal"
    changed = unicodedata.normalize("NFD", text).upper()
    one, other = (model.probabilities([each]) for each in (text, changed))
    np.testing.assert_array_equal(one, other)


def test_odd_texts_have_probabilities() -> None:
    model = trained(labelled()).classifier
    shares = model.probabilities(["", " ", "\ud800", "\0", "x" * 100_000, "축구" * 50_000])
    assert np.isfinite(shares).all()
    np.testing.assert_array_equal(shares[0], shares[1])
    assert model.probabilities([]).shape == (0, 3)


def test_temperature_is_the_best_and_keeps_predictions() -> None:
    random = np.random.default_rng(1)
    scores = random.normal(size=(400, 3)) * 6
    targets = np.zeros((400, 3), bool)
    noisy = (scores / 3 + random.gumbel(size=scores.shape)).argmax(axis=1)
    targets[np.arange(400), noisy] = True
    found = find_temperature(scores, targets, softmax=True)
    grid = np.exp(np.linspace(-2, 2.5, 400))
    best = min(grid, key=lambda one: cross_entropy(scores / one, targets, softmax=True))
    assert found == pytest.approx(best, rel=0.05)
    before, after = (to_probabilities(scores / one, softmax=True) for one in (1, found))
    right = targets[np.arange(400), scores.argmax(axis=1)]
    assert calibration_error(after.max(axis=1), right) < calibration_error(
        before.max(axis=1), right
    )
    assert find_temperature(scores[:0], targets[:0], softmax=True) == 1


def test_repeats_are_not_tested_unless_they_are_kept() -> None:
    rows = labelled(60) * 2
    reporter = RecordingReporter()
    result = mm.train_classifier(rows, mm.NgramClassifier(threads=1, test_share=0.5),
                                 reporter=reporter)  # fmt: skip
    assert result.repeats > 10
    assert any("not tested" in one for one in reporter.warnings)
    kept = trained(rows, keep_duplicates=True, test_share=0.5)
    assert kept.test_texts == 60


def test_a_test_set_of_its_own() -> None:
    rows = labelled(150)
    result = mm.train_classifier(rows[:100], ONE, test=rows[90:], reporter=SILENT)
    assert (result.test_texts, result.repeats) == (50, 10)
    with pytest.raises(mm.InvalidArgumentError, match="label 'art', which the training texts"):
        mm.train_classifier(rows[:100], ONE, test=[("x y", "art")], reporter=SILENT)
    with pytest.raises(mm.InvalidArgumentError, match="all texts of"):
        mm.train_classifier(rows[:100], ONE, test=rows[:9], reporter=SILENT)


def test_no_test_share_trains_on_all() -> None:
    result = trained(labelled(), test_share=0)
    assert (result.scores, result.train_texts) == (None, 120)


BAD: list[tuple[object, str]] = [
    ([("a b", "x"), ("c d", "x"), ("e f", "x")], "all texts of the list have the label 'x'"),
    ([(f"text {i}", str(i / 7)) for i in range(1, 40)], "a classifier needs classes"),
    ([(f"text {i}", f"l{i}") for i in range(40)], "40 labels for 40 texts"),
    ([("a b", None), ("c", float("nan"))], "ambiguous|no texts with labels"),
    ([("same", "x")] * 9 + [("same", "y")] * 9, "no text to test on that is not trained on"),
    ([("a b", "x"), ("a c", "y"), ("d", "x")], "labels with 3 texts or more"),
    (Path("no.csv"), "no.csv"),
    ([1, 2], "example number 1"),
    ("", "."),
]


@pytest.mark.parametrize(("rows", "sentence"), BAD, ids=[s[:30] for _, s in BAD])
def test_bad_data_is_a_sentence(
    rows: object, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(mm.MalmoiError, match=sentence):
        trained(rows)


def test_settings_out_of_range_are_a_sentence() -> None:
    for name, value in (("bits", 3), ("max_n", 99), ("test_share", 1.0), ("alpha", 0.0),
                        ("epochs", 0), ("threads", 0), ("jamo", 2), ("seed", -1)):  # fmt: skip
        with pytest.raises(mm.InvalidArgumentError, match=str(value)):
            mm.NgramClassifier(**{name: value})  # type: ignore[arg-type]
    with pytest.raises(mm.InvalidArgumentError, match="n-grams of something"):
        mm.NgramClassifier(max_n=0)


def test_labels_keep_their_names_and_whole_floats_are_integers() -> None:
    frame = pd.DataFrame(labelled(60), columns=["text", "label"])
    frame["label"] = frame["label"].map({"sport": 1.0, "food": 2.0, "music": float("nan")})
    model = trained(frame).classifier
    assert model.labels == ("1", "2")
    rows = [(text, label.title()) for text, label in labelled()]
    assert trained(rows).classifier.labels == ("Food", "Music", "Sport")


def test_rows_are_limited_by_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malmoi.classify.ngrams.fitting.MAX_WEIGHTS", 300)
    reporter = RecordingReporter()
    result = mm.train_classifier(labelled(), ONE, reporter=reporter)
    assert isinstance(result.classifier, LinearClassifier)
    assert len(result.classifier.weights.buckets) == 100
    assert any("left out" in one for one in reporter.warnings)
