"""Networks on embeddings: what they learn, pretrained rows, files, and odd texts."""

import unicodedata
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

import malmoi as mm
from malmoi.classify.networks.losses import class_weights
from malmoi.classify.networks.network import EmbeddingNetwork
from malmoi.classify.networks.settings import NetworkShape
from malmoi.classify.networks.units import FIRST_ROW, PADDING, UNKNOWN, EmbeddingUnits
from malmoi.reporting.reporter import SilentReporter
from tests.classify.worlds import COMMON, PARTS, labelled, multi_labelled
from tests.recording_reporter import RecordingReporter

SILENT = SilentReporter()
KINDS = ["mean", "flatten", "cnn", "gru", "lstm"]
TEXTS = ["goal team", "soup 김치", "", "오늘 노래", "unknown words only", "축구 " * 300]
QUICK: dict[str, Any] = {
    "threads": 1,
    "units": "words",
    "epochs": 8,
    "batch_size": 8,
    "learning_rate": 5e-3,
    "hidden": 16,
    "dim": 16,
    "test_share": 0.25,
}


def trained(rows: object, **settings: object) -> mm.ClassifierResult:
    own = mm.EmbeddingClassifier(**QUICK | settings)
    return mm.train_classifier(rows, own, reporter=SILENT)  # type: ignore[arg-type]


def network(rows: object, **settings: object) -> mm.NetworkClassifier:
    found = trained(rows, **settings).classifier
    assert isinstance(found, mm.NetworkClassifier)
    return found


def pretrained(folder: Path) -> str:
    """Vectors in which the words of a label are alike; of common words there are none."""
    words = [word for own in PARTS.values() for word in own.split()]
    rows = np.repeat(np.eye(3, 12), [len(own.split()) for own in PARTS.values()], axis=0)
    path = folder / "words.malmoi"
    mm.save(mm.Vectors(words, rows + 0.01), path)
    return str(path)


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_a_learnable_world_is_learned(kind: str, labels: int) -> None:
    result = trained(labelled(labels=labels), network=kind, epochs=16)
    assert result.scores is not None
    assert (result.scores.accuracy.value or 0) > 0.85 > result.scores.baseline
    shares = result.classifier.probabilities(TEXTS)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-9)


@pytest.mark.parametrize("units", ["characters", "jamo"])
def test_characters_and_jamo_are_learned(units: str) -> None:
    result = trained(labelled(200), units=units, network="cnn", dim=32, hidden=32)
    assert result.scores is not None
    assert (result.scores.accuracy.value or 0) > 0.85


def test_several_labels_of_a_text() -> None:
    result = trained(multi_labelled(), network="mean", epochs=20)
    assert result.classifier.multi_label
    assert result.scores is not None
    assert result.scores.macro_f1 > 0.9
    assert result.classifier.predict(["goal match bread soup"]) == [("food", "sport")]


@pytest.mark.parametrize("kind", ["cnn", "gru"])
def test_one_thread_gives_the_same_bits_and_another_seed_others(kind: str) -> None:
    first, again, other = (
        network(labelled(), network=kind, seed=seed, epochs=2).probabilities(TEXTS)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_gives_back_the_same_classifier(tmp_path: Path, kind: str) -> None:
    model, path = network(labelled(60), network=kind, epochs=1, max_n=2), tmp_path / "model"
    mm.save_classifier(model, path)
    again = mm.load_classifier(path)
    assert isinstance(again, mm.NetworkClassifier)
    assert again.describe() == model.describe()
    np.testing.assert_array_equal(again.probabilities(TEXTS), model.probabilities(TEXTS))
    assert list(again.vectors) == list(model.vectors)
    np.testing.assert_array_equal(again.vectors.matrix, model.vectors.matrix)


def test_a_damaged_file_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "model"
    mm.save_classifier(network(labelled(60), epochs=1), path)
    whole = path.read_bytes()
    for position in range(9, len(whole), len(whole) // 20):
        damaged = bytearray(whole)
        damaged[position] ^= 0x55
        path.write_bytes(damaged)
        with pytest.raises(mm.InvalidFileError):
            mm.load_classifier(path)
    path.write_bytes(whole[:-5])
    with pytest.raises(mm.InvalidFileError):
        mm.load_classifier(path)


def test_weights_of_another_shape_are_a_sentence(tmp_path: Path) -> None:
    model = network(labelled(60), epochs=1)
    model.weights["output.bias"] = np.zeros(9, np.float32)
    mm.save_classifier(model, tmp_path / "model")
    with pytest.raises(mm.InvalidFileError, match="do not fit"):
        mm.load_classifier(tmp_path / "model")


def test_frozen_vectors_stay_and_tuned_ones_move(tmp_path: Path) -> None:
    path, rows = pretrained(tmp_path), labelled()
    given = mm.load(path)
    frozen = network(rows, vectors=path, train_vectors=False, network="mean", epochs=2)
    np.testing.assert_array_equal(frozen.vectors["축구"], given["축구"])
    assert frozen.vectors.dim == 12
    tuned = network(rows, vectors=path, network="mean", epochs=2)
    assert (tuned.vectors["축구"] != given["축구"]).any()
    assert np.abs(tuned.vectors["축구"] - given["축구"]).max() < 0.5
    assert set(COMMON.split()) <= {*tuned.vectors}  # at random


def test_pretrained_vectors_know_words_that_are_seen_once(tmp_path: Path) -> None:
    words = {"sport": "goal match team", "food": "bread soup taste"}
    rows = [
        (f"{a} {b} number {i}", label)
        for label, own in words.items()
        for i, (a, b) in enumerate(product(own.split(), repeat=2))
    ]
    rows += [("league goal", "sport"), ("kitchen soup", "food")]
    settings = {"network": "mean", "test_share": 0, "calibrate": False, "epochs": 20}
    known = network(rows, vectors=pretrained(tmp_path), train_vectors=False, **settings)
    assert known.predict(["league", "kitchen"]) == ["sport", "food"]
    assert "league" not in network(rows, **settings).vectors
    assert known.predict(["score 축구", "cook 김치"]) == ["sport", "food"]  # not in the texts
    few = network(rows, vectors=pretrained(tmp_path), max_vocab_size=10, **settings)
    assert len(few.vectors) == 10


def test_subword_vectors_have_rows_for_words_never_seen(tmp_path: Path) -> None:
    words = [word for own in PARTS.values() for word in own.split()]
    trained_on = mm.train_fasttext(
        [" ".join(words)] * 20, mm.FastText(dim=8, epochs=1, min_count=1, buckets=100)
    )
    path = tmp_path / "subwords.malmoi"
    mm.save(trained_on, path)
    rows = [(text.replace("goal", "goals"), label) for text, label in labelled()]
    model = network(rows, vectors=str(path), train_vectors=False, epochs=1)
    np.testing.assert_allclose(model.vectors["goals"], mm.load(path).vector("goals"), rtol=1e-6)


def test_no_word_with_a_vector_is_a_warning(tmp_path: Path) -> None:
    mm.save(mm.Vectors(["zzz"], np.ones((1, 4), np.float32)), tmp_path / "v.malmoi")
    reporter = RecordingReporter()
    settings = mm.EmbeddingClassifier(**QUICK | {"vectors": str(tmp_path / "v.malmoi")})
    mm.train_classifier(labelled(), settings, reporter=reporter)
    assert any("no word of the texts has a vector" in one for one in reporter.warnings)


def test_nfd_is_nfc() -> None:
    for units in ("words", "characters", "jamo"):
        model = network(labelled(60), units=units, network="cnn", epochs=1)
        text = "축구 경기 Goal"
        one, other = (
            model.probabilities([each]) for each in (text, unicodedata.normalize("NFD", text))
        )
        np.testing.assert_array_equal(one, other)


def test_odd_texts_have_probabilities() -> None:
    model = network(labelled(60), units="characters", network="cnn", epochs=1)
    shares = model.probabilities(["", " ", "\ud800", "\0", "x" * 100_000, "축구" * 50_000])
    assert np.isfinite(shares).all()
    np.testing.assert_array_equal(shares[0], shares[1])
    assert model.probabilities([]).shape == (0, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_do_not_depend_on_the_other_texts(kind: str) -> None:
    model = network(labelled(60), network=kind, epochs=1)
    together = model.probabilities(TEXTS)
    singly = np.concatenate([model.probabilities([text]) for text in TEXTS])
    np.testing.assert_allclose(together, singly, atol=1e-6)


def test_a_cnn_is_the_maximum_of_convolutions() -> None:
    shape = NetworkShape(network="cnn", rows=9, dim=4, hidden=3, outputs=2, max_length=9)
    torch.manual_seed(1)
    model = EmbeddingNetwork(shape).eval()
    nn.init.normal_(model.embedding)
    model.embedding.data[PADDING] = 0
    ids = np.array([[2], [5], [8], [3]], np.int32)
    rows = functional.pad(model.embedding[ids[:, 0]], (0, 0, 0, 5))
    pooled = []
    for layer in model.pooling.filters:  # type: ignore[union-attr]
        width = layer.weight.shape[1] // 4
        windows = [rows[i : i + width].ravel() for i in range(5)]
        pooled.append(torch.stack([layer(window) for window in windows]).amax(0).relu())
    expected = model.output(torch.cat(pooled))
    torch.testing.assert_close(model([ids])[0], expected)


def test_units_are_characters_jamo_or_words_with_their_ngrams() -> None:
    text = "Good  ㅋㅋㅋㅋㅋ 강아지"
    assert "".join(*EmbeddingUnits("characters", 99).split([text])) == "good ㅋㅋㅋ 강아지"
    assert "".join(*EmbeddingUnits("jamo", 99).split([text])) == "good ㅋㅋㅋ ㄱㅏㅇㅇㅏㅈㅣ"
    units = EmbeddingUnits("characters", 99, 2)
    words = units.counted(["abab", "ab"], min_count=2, size=9)
    assert list(words) == ["a", "ab", "b"]
    units = EmbeddingUnits("characters", 99, 2, None, words.words)
    (ids,) = units.ids(["abc"])
    a, ab, b = range(FIRST_ROW, FIRST_ROW + 3)
    assert ids.tolist() == [[a, ab], [b, PADDING], [UNKNOWN, PADDING]]
    assert units.ids([""])[0].tolist() == [[UNKNOWN, PADDING]]


def test_balanced_classes_weigh_the_same() -> None:
    targets = np.eye(2, dtype=bool)[[0] * 9 + [1]]
    weights = class_weights(targets, softmax=True).numpy()
    np.testing.assert_allclose(weights * [9, 1], 5)
    (weight,) = class_weights(targets[:, 1:], softmax=False).numpy()
    assert weight == 9
    rare = [row for i, row in enumerate(labelled(200, 2)) if row[1] == "sport" or i % 10 == 1]
    plain, balanced = (
        network(rare, balanced=each, epochs=2, calibrate=False, test_share=0).probabilities(
            ["today very"]
        )[0, 0]
        for each in (False, True)
    )
    assert balanced > plain


def test_few_texts_have_small_batches() -> None:
    settings = mm.EmbeddingClassifier()
    sizes = [settings.for_texts(count).batch_size for count in (10, 4000, 1_000_000)]
    assert sizes == [8, 20, settings.batch_size]


def test_minutes_end_a_training() -> None:
    reporter = RecordingReporter()
    settings = mm.EmbeddingClassifier(**QUICK | {"epochs": 10_000, "minutes": 0.005})
    mm.train_classifier(labelled(), settings, reporter=reporter)
    assert 0 < len(reporter.losses) < 10_000


BAD = [
    ({"network": "rnn"}, "network is 'rnn': choose one of mean"),
    ({"units": "bytes"}, "units is 'bytes'"),
    ({"units": "jamo", "vectors": "v.txt"}, "pretrained vectors are of words"),
    ({"train_vectors": False}, "random ones must be trained"),
    ({"dropout": 1.0}, "dropout is 1.0"),
    ({"dim": 0}, "dim is 0"),
    ({"patience": 2, "calibrate": False}, "patience is 2 and calibrate is False"),
    ({"epochs": 0}, "epochs is 0"),
    ({"test_share": 1.0}, "test_share is 1.0"),
    ({"hidden": "many"}, "hidden must be an integer"),
]


@pytest.mark.parametrize(("settings", "sentence"), BAD, ids=[s for _, s in BAD])
def test_settings_out_of_range_are_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(mm.InvalidArgumentError, match=sentence):
        mm.EmbeddingClassifier(**settings)


def test_missing_vectors_are_a_sentence() -> None:
    with pytest.raises(mm.MalmoiError, match=r"no\.vec"):
        trained(labelled(), vectors="no.vec")
