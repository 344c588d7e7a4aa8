"""/rerank answers as Cohere's and text-embeddings-inference's clients expect."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import malmoi as mm
from malmoi.reporting.reporter import SilentReporter
from malmoi.serve.service.loaded_models import LoadedModel, Models, load_model
from tests.query.worlds import capitals
from tests.rerank.worlds import DOCUMENTS, QUERY, save_cross_encoder
from tests.serve.fixtures import Running, serving


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rerankers") / "judge"
    save_cross_encoder(path)
    return path


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Running]:
    words = LoadedModel("capitals", "capitals.malmoi", vectors=capitals())
    with serving(Models({"w": words, "judge": load_model("judge", str(folder))})) as running:
        yield running


def test_both_shapes(served: Running, folder: Path) -> None:
    best = mm.load_reranker(str(folder)).rank(QUERY, DOCUMENTS, reporter=SilentReporter())
    tei = served.post("/rerank", {"query": QUERY, "texts": DOCUMENTS}).json
    assert [one["index"] for one in tei] == [one.index for one in best]
    assert [one["score"] for one in tei] == pytest.approx([one.score for one in best], abs=1e-5)
    request = {"model": "judge", "query": QUERY, "documents": DOCUMENTS, "top_n": 2}
    cohere = served.post("/v2/rerank", request).json["results"]
    assert [one["index"] for one in cohere] == [one.index for one in best[:2]]
    assert cohere[0]["relevance_score"] == pytest.approx(best[0].score, abs=1e-5)


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        ({"query": "a"}, "either documents or texts"),
        ({"query": "a", "texts": []}, "texts"),
        ({"query": "a", "texts": ["a"] * 3000}, "at most 2,048"),
        ({"query": "a", "texts": ["a"], "model": "w"}, "not a reranker"),
        ({"query": "a", "texts": ["the " * 99], "truncate": False}, "is longer than"),
    ],
)
def test_bad_requests_get_a_sentence(
    request_: dict[str, object], problem: str, served: Running
) -> None:
    answer = served.post("/rerank", request_)
    assert answer.status == 400
    assert problem in answer.json["error"]["message"]
