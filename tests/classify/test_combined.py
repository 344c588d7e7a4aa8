"""Combined classifiers: weights from held-out scores, calibration, and one file for all parts."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import malmoi as mm
from malmoi.classify.base.calibration import find_temperature, to_probabilities
from malmoi.classify.combined.stacked_classifier import StackedClassifier
from malmoi.classify.combined.stacking import Stack, fit_stack
from malmoi.classify.combined.training import held_out_scores
from malmoi.classify.fitting import fit_classifier
from malmoi.evaluate.suites.logistic_regression import cross_entropy
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.data.labelled_set import read_labelled_set
from tests.classify.worlds import labelled, multi_labelled, word_vectors
from tests.recording_reporter import RecordingReporter

SILENT = SilentReporter()
NGRAMS = mm.NgramClassifier(threads=1)
WORDS = mm.NgramClassifier(threads=1, max_n=0, words=1)
MAJORITY = mm.MajorityClassifier()
SPORT, FOOD = "goal the 축구 team of today 오늘", "bread and 김치 soup is very 그리고"
TEXTS = ["goal team", "soup 김치", "", "unknownword", "오늘 노래"]


def trained(rows: object, *parts: mm.ClassifierSettings, **settings: Any) -> mm.ClassifierResult:
    own = mm.CombinedClassifier(parts=parts, **{"test_share": 0.25} | settings)
    return mm.train_classifier(rows, own, reporter=SILENT)  # type: ignore[arg-type]


@pytest.fixture
def encoder(tmp_path: Path) -> mm.EncoderClassifier:
    mm.save(word_vectors(), tmp_path / "words.malmoi")
    return mm.EncoderClassifier(model=str(tmp_path / "words.malmoi"))


@pytest.mark.parametrize("labels", [2, 3])
def test_a_learnable_world_is_learned(encoder: mm.EncoderClassifier, labels: int) -> None:
    result = trained(labelled(labels=labels), NGRAMS, encoder)
    assert result.scores is not None
    assert (result.scores.accuracy.value or 0) > 0.9 > result.scores.baseline
    shares = result.classifier.probabilities(TEXTS)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-9)
    assert result.classifier.predict([SPORT, FOOD]) == ["sport", "food"]
    described = result.classifier.describe()
    assert "n-grams: 1 to 4 characters, weight" in described["part 1"]
    assert "24 dimensions, weight" in described["part 2"]


def test_several_labels_of_a_text() -> None:
    result = trained(multi_labelled(), NGRAMS, WORDS)
    assert result.scores is not None
    assert result.scores.macro_f1 > 0.9
    assert result.classifier.predict(["goal match bread soup"]) == [("food", "sport")]


def test_a_part_that_knows_nothing_does_not_matter() -> None:
    rows = labelled(300, 2)
    model = trained(rows, WORDS, MAJORITY).classifier
    alone = mm.train_classifier(rows, WORDS, reporter=SILENT).classifier
    assert model.predict([text for text, _ in rows]) == alone.predict([text for text, _ in rows])
    (contribution, *_) = model.explain("goal today of the").contributions
    assert (contribution.part, contribution.label) == ("goal", "sport")


@pytest.mark.parametrize(("outputs", "softmax"), [(1, False), (3, True), (3, False)])
def test_weights_and_biases_are_the_lowest_point(outputs: int, softmax: bool) -> None:
    random = np.random.default_rng(outputs)
    parts = random.normal(size=(2, 400, outputs))
    chances = to_probabilities(1.5 * parts[0] + 0.5 * parts[1], softmax=softmax)
    if softmax:
        drawn = [random.choice(outputs, p=row) for row in chances]
        targets = np.array(drawn)[:, np.newaxis] == np.arange(outputs)
    else:
        targets = random.random(chances.shape) < chances
    stack = fit_stack(parts, targets, softmax=softmax)
    np.testing.assert_allclose(stack.weights, [1.5, 0.5], atol=0.25)

    def loss(weights: Any, bias: Any) -> float:
        own = cross_entropy(Stack(weights, bias).scores(parts), targets, softmax=softmax)[0]
        return own + 0.5 * float(((weights - 0.5) ** 2).sum() + (bias**2).sum())

    lowest = loss(*stack)
    for step in random.normal(size=(20, 2 + outputs)):
        assert loss(stack.weights + 0.3 * step[:2], stack.bias + 0.3 * step[2:]) > lowest


def test_two_classes_are_scikit_learns_logistic_regression() -> None:
    random = np.random.default_rng(5)
    parts = random.normal(size=(3, 20_000, 1))
    targets = random.random((20_000, 1)) < to_probabilities(parts.sum(axis=0) - 0.3, softmax=False)
    peer = LogisticRegression(C=1e6, tol=1e-8).fit(parts[:, :, 0].T, targets[:, 0])
    stack = fit_stack(parts, targets, softmax=False)
    np.testing.assert_allclose(stack.weights, peer.coef_[0], atol=5e-3)
    np.testing.assert_allclose(stack.bias, peer.intercept_, atol=5e-3)


def test_no_texts_give_equal_weights() -> None:
    stack = fit_stack(np.zeros((4, 0, 2)), np.zeros((0, 2), np.bool_), softmax=True)
    assert stack.weights.tolist() == [0.25] * 4
    assert stack.bias.tolist() == [0, 0]


def test_no_text_is_scored_by_a_part_that_has_seen_it(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [*labelled(40, 2), *labelled(40, 2)[:10]]  # ten of them twice
    data = read_labelled_set(rows, reporter=SILENT)
    settings = mm.CombinedClassifier(parts=(WORDS, MAJORITY), folds=4)
    trained_on: list[set[str]] = []
    tested: list[list[str]] = []

    def fit(part: Any, own: Any, reporter: Any) -> Any:
        trained_on.append(set(part.texts))
        scored: list[str] = []

        def raw_scores(self: object, texts: list[str]) -> Any:
            scored.extend(texts)
            return np.zeros((len(texts), 1))

        model = fit_classifier(part, own, reporter)
        monkeypatch.setattr(type(model), "raw_scores", raw_scores)
        tested.append(scored)
        return model

    chosen, scores = held_out_scores(data, settings, fit, SILENT)
    assert len(trained_on) == 8
    assert scores.shape == (2, len(chosen), 1)
    for seen, own in zip(trained_on, tested, strict=True):
        assert own
        assert not seen & set(own)
    assert len({data.texts[i] for i in chosen}) == len(chosen) >= 30


def test_many_texts_hold_a_tenth_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malmoi.classify.combined.training.MAX_FOLDED", 50)
    data = read_labelled_set(labelled(200, 2), reporter=SILENT)
    settings = mm.CombinedClassifier(parts=(MAJORITY, MAJORITY))
    chosen, scores = held_out_scores(data, settings, fit_classifier, SILENT)
    assert len(chosen) == 20
    assert scores.shape == (2, 20, 1)


def test_probabilities_are_calibrated() -> None:
    noisy = [(text, label if i % 7 else "food") for i, (text, label) in enumerate(labelled(700, 2))]
    result = trained(noisy, WORDS, NGRAMS)
    assert result.scores is not None
    assert result.scores.calibration_error < 0.06
    model, (texts, names) = result.classifier, zip(*noisy, strict=True)
    assert isinstance(model, StackedClassifier)
    targets = np.array([[name == model.labels[1]] for name in names])
    assert 0.7 < find_temperature(model.raw_scores(texts), targets, softmax=False) < 1.5


@pytest.mark.parametrize("rows", [labelled(60), labelled(60, 2), multi_labelled(60)])
def test_one_file_gives_back_all_parts(
    tmp_path: Path, encoder: mm.EncoderClassifier, rows: object
) -> None:
    inner = mm.CombinedClassifier(parts=(WORDS, MAJORITY))
    one = trained(rows, NGRAMS, encoder, inner).classifier
    mm.save_classifier(one, tmp_path / "saved")
    again = mm.load_classifier(tmp_path / "saved")
    assert isinstance(again, StackedClassifier)
    assert again.describe() == one.describe()
    np.testing.assert_array_equal(again.probabilities(TEXTS), one.probabilities(TEXTS))


def test_a_damaged_file_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "saved"
    mm.save_classifier(trained(labelled(60), WORDS, MAJORITY).classifier, path)
    whole = path.read_bytes()
    for position in range(9, len(whole), len(whole) // 40):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0x55]) + whole[position + 1 :])
        with pytest.raises(mm.InvalidFileError):
            mm.load_classifier(path)
    path.write_bytes(whole[:-1])
    with pytest.raises(mm.InvalidFileError):
        mm.load_classifier(path)


def test_parts_are_quantized(tmp_path: Path) -> None:
    small = mm.NgramClassifier(threads=1, quantize=True)
    for name, part in {"large": NGRAMS, "small": small}.items():
        own = mm.CombinedClassifier(parts=(part, MAJORITY))
        mm.train_classifier(labelled(), own, out=tmp_path / name, reporter=SILENT)
    sizes = {name: (tmp_path / name).stat().st_size for name in ("large", "small")}
    assert sizes["small"] < 0.6 * sizes["large"]
    assert mm.load_classifier(tmp_path / "small").predict(["goal team"]) == ["sport"]


def test_the_same_seed_gives_the_same_bits_and_another_others() -> None:
    first, again, other = (
        trained(labelled(60), NGRAMS, WORDS, seed=seed).classifier.probabilities(TEXTS)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_progress_is_reported() -> None:
    reporter = RecordingReporter()
    own = mm.CombinedClassifier(parts=(WORDS, MAJORITY), folds=3)
    mm.train_classifier(labelled(), own, reporter=reporter)
    assert reporter.stages["held-out scores"] == [(done, 6) for done in range(1, 7)]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"parts": (WORDS,)}, "1 parts: a combination needs two"),
        ({"parts": (WORDS, "use")}, "a part must be the settings of a classifier, not the str"),
        ({"parts": WORDS}, "parts must be the settings of classifiers"),
        ({"parts": (WORDS, WORDS), "folds": 1}, "folds is 1"),
    ],
)
def test_settings_out_of_range_are_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(mm.InvalidArgumentError, match=sentence):
        mm.CombinedClassifier(**settings)
