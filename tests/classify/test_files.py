"""Files of classifiers: round trips, quantized ones, damage, and no compiler for a few texts."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import malmoi as mm
from malmoi.classify.ngrams.linear_classifier import LinearClassifier
from malmoi.reporting.reporter import SilentReporter
from tests.classify.worlds import labelled, multi_labelled

TEXTS = ["goal team", "soup 김치", "", "오늘 노래"]


def classifier(rows: object = None, **settings: object) -> LinearClassifier:
    own = mm.NgramClassifier(**{"threads": 1, "test_share": 0} | settings)  # type: ignore[arg-type]
    found = mm.train_classifier(rows or labelled(), own, reporter=SilentReporter())  # type: ignore[arg-type]
    assert isinstance(found.classifier, LinearClassifier)
    return found.classifier


@pytest.mark.parametrize("bits", [10, 24])
@pytest.mark.parametrize("rows", [None, labelled(60, 2), multi_labelled(60)], ids=["3", "2", "m"])
def test_a_file_gives_back_the_same_classifier(tmp_path: Path, bits: int, rows: object) -> None:
    model, path = classifier(rows, bits=bits, words=1), tmp_path / "model"
    mm.save_classifier(model, path)
    again = mm.load_classifier(path)
    assert isinstance(again, LinearClassifier)
    assert (again.labels, again.multi_label, again.ngrams) == (
        model.labels, model.multi_label, model.ngrams)  # fmt: skip
    assert again.describe() == model.describe()
    np.testing.assert_array_equal(again.probabilities(TEXTS), model.probabilities(TEXTS))


def test_a_quantized_file_is_smaller_and_predicts_the_same(tmp_path: Path) -> None:
    model, texts = classifier(), [text for text, _ in labelled(300, seed=5)]
    mm.save_classifier(model, tmp_path / "large")
    mm.save_classifier(model, tmp_path / "small", quantize=True)
    assert (tmp_path / "small").stat().st_size < 0.6 * (tmp_path / "large").stat().st_size
    again = mm.load_classifier(tmp_path / "small")
    assert again.predict(texts) == model.predict(texts)
    np.testing.assert_allclose(again.probabilities(texts), model.probabilities(texts), atol=0.05)


def test_a_damaged_file_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "model"
    mm.save_classifier(classifier(), path)
    whole = path.read_bytes()
    for position in range(9, len(whole), len(whole) // 40):
        damaged = bytearray(whole)
        damaged[position] ^= 0x55
        path.write_bytes(damaged)
        with pytest.raises(mm.InvalidFileError):
            mm.load_classifier(path)
    for size in (0, 5, 100, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(mm.InvalidFileError):
            mm.load_classifier(path)


def test_another_kind_of_file_is_a_sentence(tmp_path: Path, gensim_data: object) -> None:
    path = tmp_path / "v.malmoi"
    mm.save(mm.Vectors(["a"], np.ones((1, 2), np.float32)), path)
    with pytest.raises(mm.InvalidFileError, match="is not a classifier but"):
        mm.load_classifier(path)
    (tmp_path / "t.txt").write_text("a text of some length, and more of it " * 9, "utf-8")
    with pytest.raises(mm.InvalidFileError, match="is not a classifier"):
        mm.load_classifier(tmp_path / "t.txt")
    with pytest.raises(mm.InvalidFileError, match="word vectors, which has no labels"):
        mm.load_classifier(gensim_data("toy-model.bin"))  # type: ignore[operator]


def test_a_few_texts_are_classified_without_a_compiler(tmp_path: Path) -> None:
    mm.save_classifier(classifier(), tmp_path / "model")
    code = (
        "import sys, malmoi\n"
        f"model = malmoi.load_classifier({str(tmp_path / 'model')!r})\n"
        "assert model.predict(['goal team match']) == ['sport']\n"
        "assert model.explain('goal').label == 'sport'\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_full_or_missing_target_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(mm.InvalidFileError):
        mm.save_classifier(classifier(), tmp_path / "no" / "model")
    with pytest.raises(mm.InvalidFileError):
        mm.train_classifier(labelled(), out=tmp_path / "no" / "model", reporter=SilentReporter())
