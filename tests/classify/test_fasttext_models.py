"""Supervised models of fastText: labels and probabilities are its own."""

import random
from pathlib import Path
from typing import Any

import fasttext
import numpy as np
import pytest

import malmoi as mm
from tests.classify.worlds import COMMON, PARTS, labelled

TEXTS = [
    "hello world, this is a test", "안녕하세요 반갑습니다", "bonjour le monde", "", "  ",
    "日本語のテキスト", "x", "Straße\tund Häuser", "a " * 50, "__label__en hi there",
    "goal goal 축구", "unseen😀 words </s> here", "a\u00a0b",
]  # fmt: skip
LINES = [f"__label__{label} {text}" for text, label in labelled(200)]


def their_probabilities(model: Any, text: str, count: int) -> dict[str, float]:
    found = model.f.predict(f"{text}\n", count, 0.0, "strict")
    return {label.removeprefix("__label__"): share for share, label in found}


def assert_equal_to_fasttext(path: Path, texts: list[str]) -> None:
    ours, theirs = mm.load_classifier(path), fasttext.load_model(str(path))
    for text, row in zip(texts, ours.probabilities(texts), strict=True):
        expected = their_probabilities(theirs, text, len(ours.labels))
        assert len(expected) > 0 or not row.any()
        for label, share in expected.items():
            assert row[ours.labels.index(label)] == pytest.approx(share, abs=1e-5), (text, label)
        if expected:  # several may have the same probability
            best = ours.labels[int(row.argmax())]
            assert expected[best] == pytest.approx(max(expected.values()), abs=1e-6)


def train(folder: Path, **settings: Any) -> Any:
    """A model of fastText, also as model.bin.

    It initializes a tenth of the numbers per thread, and what is left over not at all: with other
    sizes or fewer threads its loss may be NaN.
    """
    (folder / "lines.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    model = fasttext.train_supervised(
        str(folder / "lines.txt"), dim=10, epoch=5, thread=10, verbose=0, **settings
    )
    model.save_model(str(folder / "model.bin"))
    return model


def test_language_identification_is_that_of_fasttext(lid_ftz: Path) -> None:
    words = fasttext.load_model(str(lid_ftz)).get_words()
    chance = random.Random(1)
    made = [" ".join(chance.choices(words, k=5)) for _ in range(200)]
    assert_equal_to_fasttext(lid_ftz, [*TEXTS, *made])
    assert mm.load_classifier(lid_ftz).predict(["이 문장은 한국어입니다"]) == ["ko"]


@pytest.mark.parametrize("loss", ["softmax", "ova", "ns", "hs"])
@pytest.mark.parametrize(
    "settings", [{}, {"minn": 2, "maxn": 4, "bucket": 500, "wordNgrams": 3}], ids=["words", "n"]
)
def test_every_loss_is_that_of_fasttext(
    tmp_path: Path, loss: str, settings: dict[str, int]
) -> None:
    train(tmp_path, loss=loss, lr=0.1, **settings)
    made = [text for text, _ in labelled(40, seed=7)]
    assert_equal_to_fasttext(tmp_path / "model.bin", [*TEXTS, *made])


def test_a_quantized_and_pruned_model(tmp_path: Path) -> None:
    model = train(tmp_path, lr=0.1, minn=2, maxn=4, bucket=500, wordNgrams=2)
    model.quantize(str(tmp_path / "lines.txt"), qnorm=True, cutoff=300)
    model.save_model(str(tmp_path / "model.ftz"))
    assert_equal_to_fasttext(tmp_path / "model.ftz", TEXTS)


def test_an_explanation_names_words(lid_ftz: Path) -> None:
    shown = mm.load_classifier(lid_ftz).explain("hello my friend 안녕하세요")
    assert shown.label == "en"
    by_word = {one.part: one.label for one in shown.contributions}
    assert by_word["안녕하세요"] == "ko"
    assert by_word["my"] == "en"
    assert shown.text[slice(*shown.contributions[0].spans[0])] == shown.contributions[0].part


def test_its_labels_and_facts(lid_ftz: Path, tmp_path: Path) -> None:
    model = mm.load_classifier(lid_ftz)
    assert len(model.labels) == 176
    assert model.describe()["outputs"] == "hierarchical softmax"
    with pytest.raises(mm.InvalidArgumentError, match="copy its file"):
        mm.save_classifier(model, tmp_path / "new")
    whole = lid_ftz.read_bytes()
    (tmp_path / "half.ftz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(mm.InvalidFileError, match=r"half\.ftz"):
        mm.load_classifier(tmp_path / "half.ftz")


def test_a_model_of_one_versus_all_has_several_labels(tmp_path: Path) -> None:
    train(tmp_path, loss="ova", lr=0.5)
    ours = mm.load_classifier(tmp_path / "model.bin")
    assert ours.multi_label
    text = " ".join((PARTS["food"] + " " + COMMON).split())
    assert np.isfinite(ours.probabilities([text])).all()
