"""Bad folders get one sentence; hits of a search keep the score before reranking."""

import json
from pathlib import Path

import pytest

import malmoi as mm
from malmoi.cli import run
from malmoi.reporting.reporter import SilentReporter
from tests.encode.checkpoints import save_model
from tests.rerank.worlds import DOCUMENTS, QUERY, save_cross_encoder
from tests.search.worlds import BagOfWords

SILENT = SilentReporter()


def test_a_model_without_a_head(tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    with pytest.raises(mm.InvalidFileError, match="has no classifier head"):
        mm.load_reranker(str(tmp_path))


def test_a_classifier_of_several_labels(tmp_path: Path) -> None:
    save_cross_encoder(tmp_path, labels=3)
    with pytest.raises(mm.InvalidFileError, match="classifier of 3 labels"):
        mm.load_reranker(str(tmp_path))


def test_a_model_that_is_not_a_transformer() -> None:
    with pytest.raises(mm.InvalidArgumentError, match="use is not a cross-encoder"):
        mm.load_reranker("use")


def test_hits_are_ordered_by_the_reranker(tmp_path: Path) -> None:
    save_cross_encoder(tmp_path)
    reranker = mm.load_reranker(str(tmp_path))
    texts = [text for text in DOCUMENTS if text]
    index = mm.build_index(BagOfWords(), texts)
    before = {hit.id: hit.score for hit in index.search(QUERY, 10, reporter=SILENT)}
    hits = index.search(QUERY, 2, rerank=reranker, reporter=SILENT)
    best = reranker.rank(QUERY, texts, 2, reporter=SILENT)
    assert [hit.text for hit in hits] == [one.text for one in best]
    assert [hit.score for hit in hits] == pytest.approx([one.score for one in best], abs=1e-6)
    assert [hit.retrieval_score for hit in hits] == [before[hit.id] for hit in hits]


def test_a_vector_cannot_be_reranked(tmp_path: Path) -> None:
    save_cross_encoder(tmp_path)
    index = mm.build_index(BagOfWords(), ["a", "b"])
    with pytest.raises(mm.InvalidArgumentError, match="pass the query as a text"):
        index.search(index.vectors.matrix[0], rerank=mm.load_reranker(str(tmp_path)))


def test_the_search_command_reranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_cross_encoder(tmp_path / "cross")
    save_model(tmp_path / "bert", "bert")
    texts = [text for text in DOCUMENTS if text]
    (tmp_path / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
    index, cross = str(tmp_path / "index"), str(tmp_path / "cross")
    made = ["index", str(tmp_path / "texts.txt"), "--model", str(tmp_path / "bert"), "--out", index]
    assert run(made) == 0
    capsys.readouterr()
    assert run(["search", index, QUERY, "-k", "2", "--rerank", cross, "--json"]) == 0
    hits = json.loads(capsys.readouterr().out)
    best = mm.load_reranker(cross).rank(QUERY, texts, 2, reporter=SILENT)
    assert [hit["text"] for hit in hits] == [one.text for one in best]
    assert all("retrieval_score" in hit for hit in hits)
    assert run(["search", index, QUERY, "-k", "3", "--rerank", cross, "--rerank-top", "3"]) == 0
    assert capsys.readouterr().out.count("(retrieved: ") == 3
