"""Classifiers on frozen vectors: what is learned, files, and encoders that change or go away."""

import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

import malmoi as mm
from malmoi.arrays import BoolArray, Float32Array, Float64Array
from malmoi.classify.encoders.head import Head, Layer, standardization
from malmoi.classify.encoders.mlp import Adam, MlpTrainer
from malmoi.classify.encoders.selection import MAX_TRAINED, selection_splits
from malmoi.classify.encoders.text_vectors import MIN_CACHED_TEXTS
from malmoi.classify.encoders.vector_classifier import VectorClassifier
from malmoi.evaluate.suites.logistic_regression import cross_entropy, fit_linear
from malmoi.kernels.classify.sets import Sets
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.data.labelled_set import LabelledSet
from tests.classify.worlds import labelled, multi_labelled, word_vectors
from tests.recording_reporter import RecordingReporter

SILENT = SilentReporter()
SPORT, FOOD = "goal the 축구 team of today 오늘", "bread and 김치 soup is very 그리고"
TEXTS = ["goal team", "soup 김치", "", "unknownword", "오늘 노래"]


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "words.malmoi"
    mm.save(word_vectors(), path)
    return str(path)


def trained(rows: object, model: str, **settings: Any) -> mm.ClassifierResult:
    own = mm.EncoderClassifier(model=model, **{"test_share": 0.25} | settings)
    return mm.train_classifier(rows, own, reporter=SILENT)  # type: ignore[arg-type]


@pytest.mark.parametrize("labels", [2, 3])
def test_a_learnable_world_is_learned(model: str, labels: int) -> None:
    result = trained(labelled(labels=labels), model)
    assert result.scores is not None
    assert (result.scores.accuracy.value or 0) > 0.9 > result.scores.baseline
    shares = result.classifier.probabilities(TEXTS)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-9)
    assert result.classifier.predict([SPORT, FOOD]) == ["sport", "food"]
    shown = result.classifier.explain(SPORT)
    assert shown.label == "sport"
    assert {one.part for one in shown.contributions} <= set(SPORT.split())
    assert "24 dimensions" in result.classifier.describe()["encoder"]


def test_several_labels_of_a_text(model: str) -> None:
    result = trained(multi_labelled(), model)
    assert result.scores is not None
    assert result.scores.macro_f1 > 0.9
    both = "goal the match of team bread today soup cook"
    assert result.classifier.predict([both, FOOD]) == [("food", "sport"), ("food",)]


def random_world(outputs: int, *, several: bool) -> tuple[Float32Array, BoolArray]:
    random = np.random.default_rng(outputs)
    matrix = (3 + random.normal(size=(500, 12)) * np.geomspace(0.1, 10, 12)).astype(np.float32)
    scores = matrix @ random.normal(size=(12, outputs)) / np.geomspace(0.1, 10, 12).sum()
    scores += random.gumbel(size=scores.shape)
    if several or outputs == 1:
        return matrix, scores > np.median(scores)
    return matrix, scores.argmax(axis=1)[:, np.newaxis] == np.arange(outputs)


def their_probabilities(
    matrix: Float32Array, targets: BoolArray, penalty: float, *, several: bool
) -> Float64Array:
    rows = StandardScaler().fit_transform(matrix.astype(np.float64))
    peer = LogisticRegression(C=1 / penalty, tol=1e-10, max_iter=5000)
    if several:
        found: Float64Array = OneVsRestClassifier(peer).fit(rows, targets).predict_proba(rows)
        return found
    classes = targets[:, 0].astype(int) if targets.shape[1] == 1 else targets.argmax(axis=1)
    shares: Float64Array = peer.fit(rows, classes).predict_proba(rows)
    return shares[:, 1:] if targets.shape[1] == 1 else shares


@pytest.mark.parametrize("penalty", [0.1, 1.0, 100.0])
@pytest.mark.parametrize(("outputs", "several"), [(1, False), (4, False), (3, True)])
def test_a_linear_head_is_scikit_learns(outputs: int, several: bool, penalty: float) -> None:
    matrix, targets = random_world(outputs, several=several)
    expected = their_probabilities(matrix, targets, penalty, several=several)
    scale, rows = standardization(matrix), matrix.copy()
    scale.apply(rows)
    softmax = outputs > 1 and not several
    probe = fit_linear(rows, targets, softmax=softmax, penalty=penalty, tolerance=1e-7)
    head = scale.undo(
        Head((Layer(probe.weights.astype(np.float32), probe.intercepts.astype(np.float32)),))
    )
    powers = np.exp(head.scores(matrix))
    shares = powers / powers.sum(axis=1, keepdims=True) if softmax else powers / (1 + powers)
    np.testing.assert_allclose(shares, expected, atol=1e-4)


def test_a_fixed_penalty_is_that_of_the_training(model: str) -> None:
    rows = labelled(60, 2)
    ours = trained(rows, model, penalty=2.0, test_share=0, calibrate=False).classifier
    vectors = mm.load_encoder(model).encode([text for text, _ in rows], reporter=SILENT)
    targets = np.array([[label == ours.labels[1]] for _, label in rows])
    expected = their_probabilities(vectors, targets, 2.0, several=False)
    found = ours.probabilities([text for text, _ in rows])[:, 1:]
    np.testing.assert_allclose(found, expected, atol=2e-3)


def test_a_constant_dimension_does_not_matter() -> None:
    matrix, targets = random_world(1, several=False)
    wide = np.hstack([matrix, np.full((len(matrix), 1), 7.1, np.float32)])
    scale = standardization(wide)
    scale.apply(wide)
    assert abs(wide[:, -1]).max() < 1e-5
    assert fit_linear(wide, targets).weights[-1, 0] == pytest.approx(0, abs=1e-4)
    wide[3, 4] = np.nan
    with pytest.raises(mm.InvalidArgumentError, match="are not numbers"):
        standardization(wide)


def test_a_linear_head_of_blocks_is_that_of_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, targets = random_world(4, several=False)
    standardization(matrix).apply(matrix)
    whole = fit_linear(matrix, targets, tolerance=1e-6)
    monkeypatch.setattr("malmoi.evaluate.suites.logistic_regression.BLOCK", 7)
    blocks = fit_linear(matrix, targets, tolerance=1e-6)
    np.testing.assert_allclose(blocks.weights, whole.weights, atol=1e-3)


@pytest.mark.parametrize("rows", [labelled(60), labelled(60, 2), multi_labelled(60)])
def test_a_file_gives_back_the_same_classifier(tmp_path: Path, model: str, rows: object) -> None:
    one = trained(rows, model).classifier
    mm.save_classifier(one, tmp_path / "saved")
    again = mm.load_classifier(tmp_path / "saved")
    assert isinstance(again, VectorClassifier)
    assert (again.labels, again.multi_label) == (one.labels, one.multi_label)
    assert again.describe() == one.describe()
    np.testing.assert_array_equal(again.probabilities(TEXTS), one.probabilities(TEXTS))


def test_a_damaged_file_is_a_sentence(tmp_path: Path, model: str) -> None:
    path = tmp_path / "saved"
    mm.save_classifier(trained(labelled(60), model).classifier, path)
    whole = path.read_bytes()
    for position in range(9, len(whole), len(whole) // 40):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0x55]) + whole[position + 1 :])
        with pytest.raises(mm.InvalidFileError):
            mm.load_classifier(path)


def test_an_encoder_is_loaded_when_a_text_is_classified(tmp_path: Path, model: str) -> None:
    mm.save_classifier(trained(labelled(60), model).classifier, tmp_path / "saved")
    Path(model).unlink()
    without = mm.load_classifier(tmp_path / "saved")
    assert without.labels == ("food", "music", "sport")
    with pytest.raises(
        mm.InvalidFileError, match=r"encoder .* is missing: there is no model"
    ) as it:
        without.predict(["goal"])
    assert "\n" not in str(it.value)


@pytest.mark.parametrize("other", [word_vectors(seed=2), word_vectors(dim=8)])
def test_an_encoder_that_changed_is_refused(tmp_path: Path, model: str, other: mm.Vectors) -> None:
    mm.save_classifier(trained(labelled(60), model).classifier, tmp_path / "saved")
    mm.save(other, model)
    with pytest.raises(mm.InvalidFileError, match="has changed since this classifier was trained"):
        mm.load_classifier(tmp_path / "saved").predict(["goal"])


def test_relative_paths_and_several_encoders(
    tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mm.save(word_vectors(8, seed=3), tmp_path / "b.malmoi")
    monkeypatch.chdir(tmp_path)
    one = trained(labelled(60), "words.malmoi+b.malmoi").classifier
    assert "32 dimensions" in one.describe()["encoder"]
    mm.save_classifier(one, tmp_path / "saved")
    monkeypatch.chdir("/")
    again = mm.load_classifier(tmp_path / "saved")
    np.testing.assert_array_equal(again.probabilities(TEXTS), one.probabilities(TEXTS))


def test_vectors_of_many_texts_are_cached(
    model: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = labelled(MIN_CACHED_TEXTS + 100)
    before = set(cache.rglob("vectors-*.npz"))
    first = trained(rows[:20], model).classifier
    trained(rows, model, cache=False)
    assert set(cache.rglob("vectors-*.npz")) == before
    one = trained(rows, model, test_share=0).classifier
    assert len(set(cache.rglob("vectors-*.npz")) - before) == 1
    texts = [text for text, _ in rows]
    assert isinstance(one, VectorClassifier)
    expected = one.probabilities(texts)

    def fails(*_: object, **__: object) -> None:
        raise AssertionError("encoded again")

    real = type(one.vectors.encoder).encode
    monkeypatch.setattr(type(one.vectors.encoder), "encode",
                        lambda self, texts, **more: real(self, texts, **more)
                        if len(texts) < 9 else fails())  # fmt: skip
    again = trained(rows, model, test_share=0).classifier
    np.testing.assert_array_equal(again.probabilities(texts), expected)
    with pytest.raises(AssertionError, match="encoded again"):
        first.vectors(texts[:20])  # type: ignore[attr-defined]


def test_many_texts_are_sampled_and_never_judged_by_themselves() -> None:
    count = 40_000
    texts = tuple(f"text {i % 39_000}" for i in range(count))
    labels = Sets(np.arange(count + 1), np.arange(count, dtype=np.int32) % 2)
    data = LabelledSet("s", "s", texts, labels, ("a", "b"))
    ((train, test),) = selection_splits(data, 1)
    assert MAX_TRAINED - 2 <= len(train) <= MAX_TRAINED + 2
    assert 4000 < len(test) <= 5000
    assert not {texts[i] for i in train} & {texts[i] for i in test}
    few = data.take(np.arange(0, 400))
    folds = selection_splits(few, 1)
    assert sorted(i for _, test in folds for i in test) == list(range(400))


def test_the_same_seed_gives_the_same_bits_and_nfd_does_not_matter(model: str) -> None:
    first, again = (trained(labelled(), model).classifier for _ in range(2))
    np.testing.assert_array_equal(first.probabilities(TEXTS), again.probabilities(TEXTS))
    decomposed = [unicodedata.normalize("NFD", text) for text in TEXTS]
    np.testing.assert_array_equal(first.probabilities(TEXTS), first.probabilities(decomposed))


def test_progress_is_reported(model: str) -> None:
    reporter = RecordingReporter()
    mm.train_classifier(labelled(), mm.EncoderClassifier(model=model), reporter=reporter)
    done = reporter.stages["regularization"]
    assert done[-1][0] == done[-1][1]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"model": ""}, "model is empty"),
        ({"model": 3}, "model must be the name or path"),
        ({"model": "use", "head": "tree"}, "head is 'tree': choose one of linear, mlp"),
        ({"model": "use", "hidden": 0}, "hidden is 0"),
        ({"model": "use", "max_iterations": 0}, "max_iterations is 0"),
        ({"model": "use", "penalty": -1.0}, "penalty is -1.0"),
        ({"model": "use", "penalty": "high"}, "penalty must be a number"),
    ],
)
def test_settings_out_of_range_are_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(mm.InvalidArgumentError, match=sentence):
        mm.EncoderClassifier(**settings)


def test_a_model_that_is_not_there_is_a_sentence() -> None:
    with pytest.raises(mm.InvalidFileError, match="there is no model '/no/such'"):
        trained(labelled(60), "/no/such")


def test_a_hidden_layer_learns_what_a_linear_head_cannot() -> None:
    random = np.random.default_rng(1)
    matrix = random.normal(size=(1000, 4)).astype(np.float32)
    targets = (matrix[:, :1] > 0) ^ (matrix[:, 1:2] > 0)  # exclusive or
    train = MlpTrainer(softmax=False, hidden=32, seed=1)
    head = train(matrix[:800], targets[:800], 0.01)
    right = (head.scores(matrix[800:]) > 0) == targets[800:]
    linear = fit_linear(matrix[:800], targets[:800]).predict(matrix[800:])
    assert right.mean() > 0.9 > 0.7 > (linear == targets[800:, 0]).mean()
    again = train(matrix[:800], targets[:800], 0.01)
    np.testing.assert_array_equal(again.scores(matrix), head.scores(matrix))


@pytest.mark.parametrize("softmax", [True, False])
def test_gradients_are_those_of_differences(softmax: bool) -> None:
    random = np.random.default_rng(2)
    matrix, mask = random.normal(size=(9, 5)), random.random((9, 4)) > 0.3
    targets = random.integers(3, size=(9, 1)) == np.arange(3)
    arrays = [random.normal(size=shape) for shape in ((5, 4), (4,), (4, 3), (3,))]

    def loss() -> float:
        hidden = np.maximum(matrix @ arrays[0] + arrays[1], 0) * mask
        logits = hidden @ arrays[2] + arrays[3]
        return cross_entropy(logits, targets, softmax=softmax)[0] / 9

    single = [array.astype(np.float32) for array in arrays]
    layers = Layer(*single[:2]), Layer(*single[2:])
    trainer = MlpTrainer(softmax=softmax, hidden=4, seed=1)
    gradients = trainer._gradients(
        layers, matrix.astype(np.float32), targets, mask.astype(np.float32)
    )
    for array, gradient in zip(arrays, gradients, strict=True):
        for place in np.ndindex(array.shape):
            before = array[place]
            array[place] = before + 1e-6
            above = loss()
            array[place] = before - 1e-6
            slope, array[place] = (above - loss()) / 2e-6, before
            assert gradient[place] == pytest.approx(slope, abs=1e-4)


def test_steps_are_those_of_torch() -> None:
    torch = pytest.importorskip("torch")
    start, slopes = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3), np.random.default_rng(3)
    ours, theirs = start.copy(), torch.tensor(start, requires_grad=True)
    adam, peer = Adam([ours], 0.1), torch.optim.AdamW([theirs], lr=0.01, weight_decay=0.1)
    for _ in range(20):
        gradient = slopes.normal(size=(2, 3)).astype(np.float32)
        adam.step([gradient], 0.01)
        theirs.grad = torch.tensor(gradient)
        peer.step()
    np.testing.assert_allclose(ours, theirs.detach().numpy(), atol=1e-6)


@pytest.mark.parametrize("rows", [labelled(), labelled(120, 2), multi_labelled()])
def test_a_classifier_with_a_hidden_layer(tmp_path: Path, model: str, rows: object) -> None:
    result = trained(rows, model, head="mlp", hidden=64)
    one = result.classifier
    assert result.scores is not None
    assert result.scores.macro_f1 > 0.7
    assert "64 hidden" in one.describe()["encoder"]
    mm.save_classifier(one, tmp_path / "saved")
    again = mm.load_classifier(tmp_path / "saved")
    assert again.describe() == one.describe()
    np.testing.assert_array_equal(again.probabilities(TEXTS), one.probabilities(TEXTS))
