"""Bad folders get one sentence; hits of a search keep the score before reranking."""

from pathlib import Path

import pytest

import malmoi as mm
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
