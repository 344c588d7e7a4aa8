"""Fine-tuned transformers: what they learn, their folders, and the engine that runs them."""

import gc
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import malmoi as mm
from malmoi.classify.networks.losses import ClassLoss
from malmoi.classify.networks.transformer_folder import HEAD_FILE
from malmoi.reporting.reporter import SilentReporter
from tests.recording_reporter import RecordingReporter
from tests.tune.worlds import QUIET, random_texts, tiny_model

SILENT = SilentReporter()
TEXTS = ["a fish", "the bank", "", "한국어", "river " * 99]
Rows = list[tuple[str, Any]]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def classifier(model: str) -> mm.TransformerClassifier:
    return tuned(two_labels(), model)


def two_labels(count: int = 160) -> Rows:
    return [(t, "fish" if "fish" in t.split() else "other") for t in random_texts(count)]


def many_labels() -> Rows:
    return [(t, t.split()[0]) for t in random_texts(300) if t.split()[0] in ("bank", "river", "a")]


def several_labels() -> Rows:
    names = ("bank", "river", "fish")
    rows = [(t, [name for name in names if name in t.split()]) for t in random_texts(200)]
    return [(text, labels) for text, labels in rows if labels]


def settings(model: str, /, **changes: object) -> mm.FineTunedClassifier:
    own = {"model": model, "head_factor": 10.0, "learning_rate": 2e-3, "test_share": 0}
    return mm.FineTunedClassifier(**QUIET | own | changes)


def tuned(rows: Rows, model: str, /, **changes: object) -> mm.TransformerClassifier:
    result = mm.train_classifier(rows, settings(model, **changes), reporter=SILENT)
    assert isinstance(result.classifier, mm.TransformerClassifier)
    return result.classifier


@pytest.mark.parametrize("frozen", [0, 2])
@pytest.mark.parametrize("rows", [two_labels(), many_labels()], ids=["two", "many"])
def test_a_learnable_world_is_learned(model: str, rows: Rows, frozen: int) -> None:
    changes = {"epochs": 6, "freeze_layers": frozen, "test_share": 0.25}
    result = mm.train_classifier(rows, settings(model, **changes), reporter=SILENT)
    assert result.scores is not None
    assert (result.scores.accuracy.value or 0) > result.scores.baseline + 0.15


def test_several_labels_of_a_text(model: str) -> None:
    result = mm.train_classifier(
        several_labels(), settings(model, epochs=8, test_share=0.25), reporter=SILENT
    )
    assert result.classifier.multi_label
    assert result.scores is not None
    assert result.scores.macro_f1 > 0.7


def test_a_folder_gives_back_the_same_classifier(
    classifier: mm.TransformerClassifier, tmp_path: Path
) -> None:
    folder = tmp_path / "saved"
    mm.save_classifier(classifier, folder)
    again = mm.load_classifier(folder)
    assert again.describe() == classifier.describe()
    np.testing.assert_allclose(
        again.probabilities(TEXTS), classifier.probabilities(TEXTS), atol=1e-6
    )
    assert 'mm.load_classifier("saved")' in (folder / "README.md").read_text("utf-8")
    mm.save_classifier(again, tmp_path / "copy")
    copy = mm.load_classifier(tmp_path / "copy")
    np.testing.assert_array_equal(copy.probabilities(TEXTS), again.probabilities(TEXTS))
    assert mm.load_encoder(str(folder)).encode(["a fish"]).shape == (1, 32)


def test_the_engine_gives_the_scores_of_the_network(model: str) -> None:
    from malmoi.classify.networks.fine_tuning import LabelObjective
    from malmoi.tune.data.numbering import tokenize_texts
    from malmoi.tune.sentence.tuning import network_to_tune

    found = tuned(two_labels(60), model, epochs=1)
    network = network_to_tune(found.encoder, settings(model))
    texts = [text for text, _ in two_labels(40)]
    vectors = network.encode(tokenize_texts(found.encoder, texts, SILENT))
    objective = LabelObjective(found.encoder.dim, 1, ClassLoss(softmax=False))
    weight, bias = objective.head()
    assert not weight.any()
    assert not bias.any()
    expected = vectors @ found.head_weight.T + found.head_bias
    np.testing.assert_allclose(found.raw_scores(texts), expected, atol=1e-4)


def test_the_transformer_and_the_head_are_trained(model: str) -> None:
    found = tuned(two_labels(60), model, epochs=1)
    before = mm.load_transformer(model).encode(["a fish"])
    assert np.abs(found.encoder.encode(["a fish"]) - before).max() > 1e-3
    assert found.head_weight.any()


def test_one_thread_gives_the_same_bits_and_another_seed_others(model: str) -> None:
    first, again, other = (
        tuned(two_labels(60), model, epochs=1, seed=seed).probabilities(TEXTS) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_the_files_of_an_unsaved_classifier_go_with_it(model: str) -> None:
    found = tuned(two_labels(60), model, epochs=1)
    assert found.unsaved is not None
    folder = found.unsaved.path
    assert folder.is_dir()
    del found
    gc.collect()
    assert not folder.exists()


def test_nfd_is_nfc(classifier: mm.TransformerClassifier) -> None:
    one, other = (
        classifier.probabilities([unicodedata.normalize(form, "한국어")]) for form in ("NFC", "NFD")
    )
    np.testing.assert_array_equal(one, other)


def test_odd_texts_have_probabilities(classifier: mm.TransformerClassifier) -> None:
    shares = classifier.probabilities(["", " ", "\0", "x" * 10_000])
    assert np.isfinite(shares).all()
    assert classifier.probabilities([]).shape == (0, 2)
    assert classifier.explain("a fish").contributions


def test_a_folder_is_opened_without_torch(
    classifier: mm.TransformerClassifier, tmp_path: Path
) -> None:
    mm.save_classifier(classifier, tmp_path / "saved")
    code = (
        "import sys, malmoi\n"
        f"model = malmoi.load_classifier({str(tmp_path / 'saved')!r})\n"
        "assert len(model.predict(['a fish'])) == 1\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_damaged_folders_are_a_sentence(
    classifier: mm.TransformerClassifier, tmp_path: Path
) -> None:
    folder = tmp_path / "saved"
    mm.save_classifier(classifier, folder)
    with pytest.raises(mm.InvalidFileError, match="exists already"):
        mm.save_classifier(classifier, folder)
    head = folder / HEAD_FILE
    whole = head.read_bytes()
    for position in range(9, len(whole), len(whole) // 20):
        damaged = bytearray(whole)
        damaged[position] ^= 0x55
        head.write_bytes(damaged)
        with pytest.raises(mm.InvalidFileError):
            mm.load_classifier(folder)
    head.write_bytes(whole)
    (folder / "model.safetensors").unlink()
    with pytest.raises(mm.InvalidFileError):
        mm.load_classifier(folder).predict(["a"])
    head.unlink()
    with pytest.raises(mm.InvalidFileError, match="has no classifier"):
        mm.load_classifier(folder)


def test_a_target_that_exists_is_a_sentence_before_the_training(model: str, tmp_path: Path) -> None:
    with pytest.raises(mm.InvalidFileError, match="exists already"):
        mm.train_classifier(two_labels(), settings(model), out=tmp_path, reporter=SILENT)
    with pytest.raises(mm.InvalidFileError, match="no folder"):
        mm.train_classifier(two_labels(), settings(model), out=tmp_path / "a" / "b",
                            reporter=SILENT)  # fmt: skip
    assert list(tmp_path.iterdir()) == []


def test_training_saves_the_folder_and_reports(model: str, tmp_path: Path) -> None:
    reporter = RecordingReporter()
    mm.train_classifier(
        two_labels(60), settings(model, epochs=1, balanced=True), out=tmp_path / "new",
        reporter=reporter)  # fmt: skip
    assert mm.load_classifier(tmp_path / "new").labels == ("fish", "other")
    assert any(name.startswith("fine-tuning") for name in reporter.stages)
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


BAD = [
    ({"freeze_layers": 3}, "freeze at most 2"),
    ({"model": "glove-6b-50d"}, "glove-6b-50d"),
]


@pytest.mark.parametrize(("changes", "sentence"), BAD, ids=[s for _, s in BAD])
def test_what_does_not_fit_the_model_is_a_sentence(
    model: str, changes: dict[str, object], sentence: str
) -> None:
    with pytest.raises(mm.MalmoiError, match=sentence):
        tuned(two_labels(), model, **changes)


@pytest.mark.parametrize("changes", [{"precision": "int8"}, {"dropout": 1.0}, {"model": ""},
                                     {"head_factor": 0.0}, {"patience": -1}], ids=str)  # fmt: skip
def test_settings_out_of_range_are_a_sentence(changes: dict[str, object]) -> None:
    with pytest.raises(mm.InvalidArgumentError, match=next(iter(changes))):
        settings("minilm", **changes)
