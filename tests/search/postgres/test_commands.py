"""The commands with the address of an index in a database, and the server's /search."""

import json
from pathlib import Path

import numpy as np
import pytest

import malmoi as mm
from malmoi.cli import run
from malmoi.search.build import open_index
from malmoi.serve.service.loaded_models import load_models, parse_model_paths


@pytest.fixture
def model(tmp_path: Path) -> str:
    words = ["bank", "river", "money", "서울", "수도", "rate"]
    matrix = np.random.default_rng(1).normal(size=(len(words), 8)).astype(np.float32)
    mm.save(mm.Vectors(words, matrix), tmp_path / "vectors.txt")
    return str(tmp_path / "vectors.txt")


def test_index_search_inspect_and_reindex(
    url: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "texts.jsonl"
    lines = [{"id": "a", "text": "the bank rate", "lang": "en"},
             {"id": "b", "text": "서울 수도", "lang": "ko"}]  # fmt: skip
    source.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert run(["index", str(source), "--field", "text", "--id", "id", "--model", model,
                "--out", url, "--json"]) == 0  # fmt: skip
    assert json.loads(capsys.readouterr().out)["added"] == 2
    for how in ([], ["--hybrid"], ["--lexical"], ["--exact"], ["--filter", "lang=en"]):
        assert run(["search", url, "bank", "--json", "-k", "1", *how]) == 0
        assert [hit["id"] for hit in json.loads(capsys.readouterr().out)] == ["a"]
    assert run(["inspect", url]) == 0
    assert "malmoi index in PostgreSQL" in capsys.readouterr().out
    other = tmp_path / "other.txt"
    mm.save(mm.Vectors(["bank", "서울"], np.eye(2, 4, dtype=np.float32)), other)
    assert run(["reindex", url, "--model", str(other), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["dim"] == 4
    assert run(["search", url, "서울", "--json", "-k", "1"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["id"] == "b"


def test_an_index_in_a_database_is_served(url: str, model: str) -> None:
    index = mm.build_index(mm.load_encoder(model), ["bank rate", "서울 수도"], path=url)
    table = open_index(url).name
    assert parse_model_paths((url, f"other={url}")) == {table: url, "other": url}
    served = load_models({"faq": url})
    one, opened = served.index("faq")
    assert (one.kind, one.dim) == ("index", 8)
    assert opened.search("bank", 1) == index.search("bank", 1)
