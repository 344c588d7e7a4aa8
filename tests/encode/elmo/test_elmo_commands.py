"""Every command that takes an encoder takes an ELMo folder, and so does the server."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import malmoi as mm
from malmoi.cli import run
from malmoi.compat.sentence_transformers import SentenceTransformer
from malmoi.encode.elmo.encoder import ElmoEncoder
from malmoi.encode.pooling.recipes import Recipe
from malmoi.errors import InvalidArgumentError
from malmoi.search.build import build_index
from malmoi.serve.service.loaded_models import LoadedModel, Models, load_model
from tests.serve.fixtures import serving

Output = pytest.CaptureFixture[str]
TEXTS = ["The bank of the river isn't far.", "He robbed the bank!", "한국어를 읽는다"]
PAIRS = [
    ("the river bank", "a river", 4.0), ("he robbed it", "a robber", 3.0),
    ("a fish", "the law", 0.5), ("go", "stop", 1.0), ("a b c", "c b a", 2.0),
]  # fmt: skip


def output(arguments: list[str], capsys: Output) -> Any:
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def pairs_file(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    rows = ["sentence1\tsentence2\tscore", *("\t".join(map(str, pair)) for pair in PAIRS)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_embed(elmo: ElmoEncoder, folder: Path, tmp_path: Path, capsys: Output) -> None:
    model = ["--model", str(folder)]
    records = output(["embed", *TEXTS, *model], capsys)
    found = np.array([record["vector"] for record in records])
    np.testing.assert_allclose(found, elmo.encode(TEXTS), atol=2e-6)
    words = output(["embed", TEXTS[0], *model, "--per", "word", "--layers", "0"], capsys)
    assert [one["word"] for one in words[0]["words"]][-4:] == ["is", "n't", "far", "."]
    tokens = output(["embed", "a", *model, "--per", "token", "--include-special"], capsys)
    assert [one["token"] for one in tokens[0]["tokens"]] == ["<S>", "a", "</S>"]
    options = ["--layers", "all", "--layer-pooling", "weighted", "--weights", "1", "0", "2"]
    (record,) = output(["embed", TEXTS[0], *model, *options], capsys)
    recipe = Recipe(layers="all", layer_pooling="weighted", weights=(1, 0, 2))
    expected = elmo.encode(TEXTS[0], recipe=recipe)
    np.testing.assert_allclose(record["vector"], expected, atol=2e-6)
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    out = tmp_path / "out.npy"
    assert run(["embed", "--file", str(tmp_path / "texts.txt"), "--out", str(out), *model]) == 0
    np.testing.assert_allclose(np.load(out), elmo.encode(TEXTS), atol=2e-6)
    both = ["embed", "a", *model, "--skip-special", "--include-special"]
    assert run(both) == 1
    assert "exclude each other" in capsys.readouterr().err


def test_tokenize(folder: Path, capsys: Output) -> None:
    assert run(["tokenize", "Don't 읽는다", "--model", str(folder)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in out[1:]] == ["<S>", "Do", "n't", "읽는다", "</S>"]


def test_context(elmo: ElmoEncoder, folder: Path, tmp_path: Path, capsys: Output) -> None:
    sentences = [TEXTS[0], TEXTS[1], "a Bank"]
    found = output(["context", "bank", *sentences, "--model", str(folder)], capsys)
    assert len(found["occurrences"]) == 2  # capitals are other characters
    occurrences = mm.occurrences(elmo, "bank", sentences, layers=2)
    states = elmo.activations(sentences)
    expected = [states.states[0][2, 2], states.states[1][2, 4]]
    np.testing.assert_allclose(occurrences.matrix, expected, atol=1e-6)
    excluded = mm.occurrences(
        elmo, "bank", sentences, recipe=Recipe(layers=2, include_special_tokens=False)
    )
    np.testing.assert_allclose(excluded.matrix, expected, atol=1e-6)


def test_sweep(folder: Path, tmp_path: Path, capsys: Output) -> None:
    arguments = ["sweep", str(folder), "--file", str(pairs_file(tmp_path))]
    (found,) = output(arguments, capsys)
    assert {cell["layers"] for cell in found["cells"]} >= {0, 1, 2}
    assert run(arguments) == 0
    out = capsys.readouterr().out
    assert "with <S> and </S>" in out
    assert "--skip-special" not in out


def test_evaluate(folder: Path, tmp_path: Path, capsys: Output) -> None:
    arguments = ["evaluate", str(folder), "--file", str(pairs_file(tmp_path))]
    found = output(arguments, capsys)
    assert "spearman" in json.dumps(found)


def test_index_search_and_project(folder: Path, tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS * 3), encoding="utf-8")
    index = str(tmp_path / "index")
    texts = str(tmp_path / "texts.txt")
    assert run(["index", texts, "--out", index, "--model", str(folder)]) == 0
    capsys.readouterr()
    found = output(["search", index, TEXTS[1], "-k", "1"], capsys)
    assert TEXTS[1] in json.dumps(found, ensure_ascii=False)
    page = tmp_path / "page.html"
    arguments = ["project", "--word", "bank", "--corpus", texts, "--model", str(folder)]
    assert run([*arguments, "--out", str(page)]) == 0
    assert page.stat().st_size > 1000
    assert run(["project", index, "--out", str(tmp_path / "index.html")]) == 0


def test_serve(elmo: ElmoEncoder, folder: Path) -> None:
    with serving(Models({"elmo": load_model("elmo", str(folder))})) as server:
        (state,) = server.get("/models").json["models"]
        assert (state["kind"], state["dim"], state["layers"]) == ("elmo", 12, 2)
        found = server.post("/embed", {"texts": TEXTS})
        assert found.status == 200, found.body
        np.testing.assert_allclose(found.json["embeddings"], elmo.encode(TEXTS), atol=2e-6)
        layer = {"texts": TEXTS, "layers": 1, "pool": "max"}
        found = server.post("/embed", layer)
        expected = elmo.encode(TEXTS, layers=1, pool="max")
        np.testing.assert_allclose(found.json["embeddings"], expected, atol=2e-6)
        tokens = server.post("/embed", {"texts": TEXTS[:1], "per": "token", "layers": 0}).json
        assert next(one["token"] for one in tokens["texts"][0]["tokens"]) == "The"
        with_marks = {"include_special_tokens": True, "per": "token", "texts": TEXTS[:1]}
        tokens = server.post("/embed", with_marks).json
        assert next(one["token"] for one in tokens["texts"][0]["tokens"]) == "<S>"
        found = server.post("/v1/embeddings", {"input": TEXTS[:1], "model": "elmo"}).json
        vector = found["data"][0]["embedding"]
        np.testing.assert_allclose(vector, elmo.encode(TEXTS[0]), atol=2e-6)
    with pytest.raises(InvalidArgumentError, match="has no token ids"):
        elmo.tokenizer.encode_ids([1, 2])


def test_tokens_of_a_client_are_taken_as_they_are(elmo: ElmoEncoder, folder: Path) -> None:
    with serving(Models({"elmo": load_model("elmo", str(folder))})) as server:
        request = {"id": 1, "texts": [["isn't", "읽는다"]], "is_tokenized": True}
        found = server.post("/encode", request | {"show_tokens": True})
        assert found.status == 200, found.body
        assert found.json["tokens"] == [["<S>", "isn't", "읽는다", "</S>"]]
        expected = elmo.encode([["isn't", "읽는다"]], recipe="bert-as-service")
        np.testing.assert_allclose(found.json["result"], expected, atol=2e-6)


def test_an_index_is_served(elmo: ElmoEncoder) -> None:
    index = build_index(elmo, TEXTS)
    with serving(Models({"i": LoadedModel("i", "i", index=index)})) as server:
        found = server.post("/search", {"query": TEXTS[2], "k": 1})
        assert found.json["hits"][0]["id"] == index.search(TEXTS[2], 1)[0].id == "2"


def test_the_interface_of_sentence_transformers(elmo: ElmoEncoder, folder: Path) -> None:
    model = SentenceTransformer(str(folder))
    np.testing.assert_allclose(model.encode(TEXTS), elmo.encode(TEXTS), atol=2e-6)
    assert model.max_seq_length == 2048
    assert model.prompts == {}
