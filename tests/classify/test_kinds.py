"""Names of classifiers: what settings they stand for, and which are refused."""

import pytest

import malmoi as mm
from malmoi.classify.kinds import choose_classifier, default_kinds
from malmoi.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("ngrams", mm.NgramClassifier()),
        ("words", mm.NgramClassifier(max_n=0, words=2)),
        ("jamo", mm.NgramClassifier(max_n=0, jamo=8)),
        ("ngrams:max-n=5:alpha=0.5", mm.NgramClassifier(max_n=5, alpha=0.5)),
        ("ngrams:epochs=7", mm.NgramClassifier(epochs=7)),
        ("ngrams:balanced=yes", mm.NgramClassifier(balanced=True)),
        ("majority", mm.MajorityClassifier()),
        ("minilm", mm.EncoderClassifier(model="minilm")),
        ("minilm:head=mlp:hidden=32", mm.EncoderClassifier(model="minilm", head="mlp", hidden=32)),
        ("minilm:quantized", mm.EncoderClassifier(model="minilm:quantized")),
        ("minilm+use", mm.EncoderClassifier(model="minilm+use")),
        ("gru", mm.EmbeddingClassifier(network="gru")),
        ("cnn:units=jamo:epochs=2", mm.EmbeddingClassifier(network="cnn", units="jamo", epochs=2)),
        ("fine-tune:model=minilm", mm.FineTunedClassifier(model="minilm")),
        (
            "ngrams+use",
            mm.CombinedClassifier(parts=(mm.NgramClassifier(), mm.EncoderClassifier(model="use"))),
        ),
        (
            "ngrams+cnn:units=jamo",
            mm.CombinedClassifier(
                parts=(mm.NgramClassifier(), mm.EmbeddingClassifier(network="cnn", units="jamo"))
            ),
        ),
        ("words:optimizer=adagrad", mm.NgramClassifier(max_n=0, words=2, optimizer="adagrad")),
    ],
)
def test_names(name: str, settings: mm.ClassifierSettings) -> None:
    assert mm.classifier_settings(name) == settings


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ngrams:colour=red", "has no setting 'colour': choose from alpha"),
        ("ngrams:max_n=many", "max_n in 'ngrams:max_n=many' is many: it must be a number"),
        ("ngrams:balanced=perhaps", "is perhaps: choose yes or no"),
        ("ngrams:max_n=-1", "-1 characters"),
        ("ngrams+", "lacks a model"),
    ],
)
def test_mistakes_are_one_sentence(name: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        mm.classifier_settings(name)


def test_options_that_all_kinds_have_go_with_any_name() -> None:
    options = mm.NgramClassifier(seed=7, test_share=0.3)
    assert choose_classifier("words", options) == mm.NgramClassifier(
        max_n=0, words=2, seed=7, test_share=0.3
    )


def test_default_kinds_suit_the_language() -> None:
    english, korean = default_kinds(["a small text"]), default_kinds(["영화가 정말 재미있다"])
    assert {"majority", "ngrams", "words", "minilm", "ngrams+minilm"} <= set(english)
    assert {"majority", "ngrams", "jamo", "use", "ngrams+use"} <= set(korean)
    for name in (*english, *korean):
        mm.classifier_settings(name)
