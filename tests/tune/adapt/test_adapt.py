"""Adaptations from end to end: what improves, what is saved, and runs that are interrupted."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentence_transformers
import transformers

from malmoi.encode.checkpoint.weights import read_weights, weights_file
from malmoi.encode.encoder import load_transformer
from malmoi.encode.loading import load_encoder
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.evaluate.retrieval import evaluate_retrieval, load_beir
from malmoi.evaluate.sets.sentence_sets import SentenceSet
from malmoi.evaluate.suites.differences import compare_means
from malmoi.files import checkpoint
from malmoi.reporting.reporter import SilentReporter
from malmoi.search.build import build_index
from malmoi.text.corpus import Corpus
from malmoi.tune.adapt.adapting import adapt
from malmoi.tune.adapt.result import AdaptResult, perplexity
from malmoi.tune.adapt.settings import AdaptSettings
from tests.encode.checkpoints import change
from tests.tune.adapt.test_mlm import save_masked_model
from tests.tune.adapt.worlds import METHODS, documents, patterns, quick, save_beir
from tests.tune.worlds import StopAfter, random_texts, scored_pairs, tiny_model

QUIET = SilentReporter()


@pytest.fixture
def model(tmp_path: Path) -> str:
    return tiny_model(tmp_path / "model")


def run(model: str, out: Path, texts: list[str] | None = None, **changes: Any) -> AdaptResult:
    return adapt(texts or documents(), model, out, quick(**changes), reporter=QUIET)


def vectors(folder: Path | str) -> Any:
    return load_encoder(str(folder)).encode(random_texts(20, seed=4), reporter=QUIET)


@pytest.mark.parametrize("method", METHODS)
def test_sentence_transformers_loads_the_folder(method: str, model: str, tmp_path: Path) -> None:
    out = run(model, tmp_path / "out", method=method).folder
    ours = vectors(out)
    theirs = sentence_transformers.SentenceTransformer(str(out), device="cpu")
    np.testing.assert_allclose(ours, theirs.encode(random_texts(20, seed=4)), atol=2e-6)
    assert np.abs(ours - vectors(model)).max() > 1e-3


@pytest.mark.parametrize("method", ["mlm", "tsdae"])
def test_the_perplexity_of_held_out_text_falls(method: str, model: str, tmp_path: Path) -> None:
    result = run(model, tmp_path / "out", patterns(), method=method, epochs=12)
    before, after = result.perplexity_before, result.perplexity_after
    assert before is not None
    assert after is not None
    assert before.total == 6
    assert (after.value or 99) < 0.8 * (before.value or 0)
    assert (after.low or 99) <= (after.value or 99) <= (after.high or 0)
    card = (result.folder / "README.md").read_text()
    assert f"Perplexity of held-out text {before.value:.1f}" in card
    assert "adapted to a domain with malmoi" in card
    assert result.command in card


@pytest.mark.parametrize("method", METHODS)
def test_a_resumed_run_gives_the_same_weights(
    method: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "SAVE_EVERY", 0.0)
    whole = run(model, tmp_path / "whole", method=method, epochs=2)
    settings, out = quick(method=method, epochs=2), tmp_path / "out"
    for steps in (3, 3):
        resume = (tmp_path / "out.checkpoint").exists()
        with pytest.raises(KeyboardInterrupt):
            adapt(documents(), model, out, settings, resume=resume, reporter=StopAfter(steps))
    resumed = adapt(documents(), model, out, settings, resume=True, reporter=QUIET)
    assert (out / "model.safetensors").read_bytes() == (
        whole.folder / "model.safetensors"
    ).read_bytes()
    assert resumed.perplexity_after == whole.perplexity_after
    assert not (tmp_path / "out.checkpoint").exists()


def test_a_run_on_another_corpus_does_not_resume(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "SAVE_EVERY", 0.0)
    with pytest.raises(KeyboardInterrupt):
        adapt(documents(), model, tmp_path / "out", quick(), reporter=StopAfter(2))
    with pytest.raises(InvalidArgumentError, match=r"out\.checkpoint"):
        adapt(documents(seed=5), model, tmp_path / "out", quick(), resume=True, reporter=QUIET)


def test_the_head_of_a_checkpoint_is_trained_and_saved(tmp_path: Path) -> None:
    old = save_masked_model(tmp_path / "model", "bert")
    out = run(str(tmp_path / "model"), tmp_path / "out", method="mlm", train_embeddings=True).folder
    new: Any = transformers.AutoModelForMaskedLM.from_pretrained(out)
    assert float((new.cls.predictions.bias - old.cls.predictions.bias).detach().abs().max()) > 1e-4
    dense = new.cls.predictions.transform.dense.weight - old.cls.predictions.transform.dense.weight
    assert float(dense.detach().abs().max()) > 1e-4
    np.testing.assert_array_equal(
        new.cls.predictions.decoder.weight.detach().numpy(),
        new.bert.embeddings.word_embeddings.weight.detach().numpy(),
    )
    encoder = load_transformer(str(out))
    assert encoder.config.dim == 32


def test_a_search_is_the_dev_set(model: str, tmp_path: Path) -> None:
    folder = save_beir(tmp_path / "beir", documents())
    result = adapt(folder, model, tmp_path / "out", quick(), dev=folder, reporter=QUIET)
    assert result.metric == "nDCG@10"
    assert result.before is not None
    assert result.after is not None
    assert result.before.total == 10
    assert result.difference is not None
    assert "nDCG@10" in result.sentence
    for name, score in ((model, result.before), (str(result.folder), result.after)):
        texts = documents()
        ids = [f"d{i}" for i in range(len(texts))]
        index = build_index(load_encoder(name), texts, ids=ids)
        expected = evaluate_retrieval(index, load_beir(folder), 10).ndcg.value
        assert score.value == pytest.approx(expected, abs=0.05)  # ties of a tiny model


def test_some_documents_are_enough_for_a_dev_set(model: str, tmp_path: Path) -> None:
    folder = save_beir(tmp_path / "beir", documents())
    settings = quick(dev_documents=15, epochs=1)
    result = adapt(folder, model, tmp_path / "out", settings, dev=folder, reporter=QUIET)
    assert result.before is not None
    assert result.before.total == 10


def test_mixed_weights_are_between_the_old_and_the_new(model: str, tmp_path: Path) -> None:
    dev = SentenceSet.of(*zip(*scored_pairs(20), strict=True))
    folders = []
    for mix in (1.0, 0.25):
        settings, out = quick(method="mlm", mix=mix), tmp_path / f"out{mix}"
        folders.append(adapt(documents(), model, out, settings, dev=dev, reporter=QUIET).folder)
    name = "layer.0.ffn_up.weight"
    config = load_transformer(model).config
    new, mixed, old = (
        read_weights(weights_file(folder), config)[name] for folder in (*folders, Path(model))
    )
    np.testing.assert_allclose(mixed, 0.25 * new + 0.75 * old, atol=1e-6)
    assert np.abs(new - old).max() > 1e-3


@pytest.mark.parametrize("is_plain", [True, False])
def test_the_new_encoder_reads_longer_texts(is_plain: bool, model: str, tmp_path: Path) -> None:
    if not is_plain:
        folder = str(tmp_path / "modules")
        sentence_transformers.SentenceTransformer(model, device="cpu").save(folder)
        change(Path(folder) / "sentence_bert_config.json", max_seq_length=24)
        model = folder
        assert load_transformer(model).tokenizer.max_length == 24
    out = str(run(model, tmp_path / "out", max_length=36).folder)
    assert load_transformer(out).tokenizer.max_length == 36
    texts = ["the river bank " * 12, "a fish " * 30]
    theirs = sentence_transformers.SentenceTransformer(out, device="cpu").encode(texts)
    ours = load_encoder(out).encode(texts, reporter=QUIET)
    np.testing.assert_allclose(ours, theirs, atol=2e-6)
    with pytest.raises(InvalidArgumentError, match="max_length is 99"):
        run(model, tmp_path / "other", max_length=99)


def test_files_of_every_kind(model: str, tmp_path: Path) -> None:
    texts = documents(12)
    (tmp_path / "corpus.txt").write_text("\n".join(texts))
    (tmp_path / "corpus.csv").write_text("body\n" + "\n".join(texts))
    sources: list[tuple[Any, dict[str, Any]]] = [
        (tmp_path / "corpus.txt", {}),
        (tmp_path / "corpus.csv", {"field": "body"}),
        (Corpus.of(texts), {}),
        (texts, {}),
    ]
    weights: set[bytes] = set()
    for number, (source, changes) in enumerate(sources):
        out = tmp_path / f"out{number}"
        adapt(source, model, out, quick(method="mlm", **changes), reporter=QUIET)
        weights.add((out / "model.safetensors").read_bytes())
    assert len(weights) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "bert"}, "method is 'bert': choose one of contrastive, mlm, tsdae"),
        ({"mix": 0.0}, "mix is 0.0: it must be a number above 0"),
        ({"mix": 1.5}, "mix is 1.5: it must be at most 1"),
        ({"mask_share": 1.0}, "mask_share is 1.0"),
        ({"max_tokens": 3}, "max_tokens is 3: it must be at least 20"),
        ({"group": 0}, "group is 0"),
    ],
)
def test_settings_out_of_range(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        AdaptSettings(**changes)


def test_what_cannot_be_adapted(model: str, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n\n")
    with pytest.raises(InvalidArgumentError, match=r"empty.txt has 0 different documents"):
        adapt(tmp_path / "empty.txt", model, tmp_path / "out", reporter=QUIET)
    with pytest.raises(InvalidFileError, match=r"missing.txt does not exist"):
        adapt(tmp_path / "missing.txt", model, tmp_path / "out", reporter=QUIET)
    with pytest.raises(InvalidFileError, match=r"model exists already"):
        adapt(documents(), model, model, reporter=QUIET)
    with pytest.raises(InvalidArgumentError, match="freeze_layers is 3"):
        adapt(documents(), model, tmp_path / "out", quick(freeze_layers=3), reporter=QUIET)


def test_the_perplexity_of_known_losses() -> None:
    score = perplexity(np.log([2.0, 8.0]) * [3, 1], np.array([3, 1]))
    assert score.value == pytest.approx(2**1.5)
    assert score.low == pytest.approx(2.0)
    assert score.high == pytest.approx(8.0)


def test_the_same_scores_do_not_differ() -> None:
    random = np.random.default_rng(0)
    scores = random.random(200)
    assert compare_means(scores, scores).verdict == "no difference"
    assert compare_means(scores, scores + 0.01).verdict == "better"
    assert compare_means(scores, scores + random.normal(0, 1, 200)).verdict == "no difference"
