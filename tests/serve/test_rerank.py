"""/rerank answers as Cohere's and text-embeddings-inference's clients expect."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import malmoi as mm
from malmoi.reporting.reporter import SilentReporter
from malmoi.search.build import build_index
from malmoi.search.index import Index
from malmoi.serve.routes import openapi_json
from malmoi.serve.service.loaded_models import LoadedModel, Models, load_model
from tests.query.worlds import capitals
from tests.rerank.worlds import DOCUMENTS, QUERY, save_cross_encoder
from tests.search.worlds import BagOfWords
from tests.serve.fixtures import Running, serving

TEXTS = [text for text in DOCUMENTS if text]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rerankers") / "judge"
    save_cross_encoder(path)
    return path


@pytest.fixture(scope="module")
def index() -> Index:
    fields = [{"row": row} for row in range(len(TEXTS))]
    return build_index(BagOfWords(), TEXTS, fields=fields)


@pytest.fixture(scope="module")
def served(folder: Path, index: Index) -> Iterator[Running]:
    words = LoadedModel("w", "capitals.malmoi", vectors=capitals())
    texts = LoadedModel("texts", "texts", index=index)
    judge = load_model("judge", str(folder))
    with serving(Models({"w": words, "texts": texts, "judge": judge})) as running:
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


@pytest.mark.parametrize(
    "request_",
    [
        {"documents": DOCUMENTS, "return_documents": True},
        {"documents": [{"text": text} for text in DOCUMENTS], "top_n": 1},
        {"texts": DOCUMENTS, "raw_scores": True, "return_text": True},
        {"texts": DOCUMENTS[:1]},
    ],
)
def test_answers_fit_exactly_one_shape_of_the_document(
    request_: dict[str, object], served: Running
) -> None:
    document = json.loads(openapi_json())
    success = document["paths"]["/rerank"]["post"]["responses"]["200"]
    schema = success["content"]["application/json"]["schema"]
    assert len(schema["oneOf"]) == 2
    answer = served.post("/rerank", {"query": QUERY, **request_})
    assert answer.status == 200
    jsonschema.validate(answer.json, document | schema)


@pytest.mark.parametrize("way", [{}, {"hybrid": True}, {"lexical": True}, {"where": ["row>=3"]}])
def test_a_search_is_reranked_as_by_the_library(
    way: dict[str, Any], served: Running, folder: Path, index: Index
) -> None:
    reranker = mm.load_reranker(str(folder))
    best = index.search(QUERY, 2, **way, rerank=reranker, rerank_top=4, reporter=SilentReporter())
    request = {"query": QUERY, "k": 2, **way, "rerank": "judge", "rerank_top": 4}
    answer = served.post("/search", request).json
    assert answer["model"] == "texts"
    assert [hit["id"] for hit in answer["hits"]] == [hit.id for hit in best]
    for name in ("score", "retrieval_score"):
        expected = [getattr(hit, name) for hit in best]
        assert [hit[name] for hit in answer["hits"]] == pytest.approx(expected, abs=1e-5)
    if not way:
        by_get = served.get("/search?q=the+bank+of+the+river&k=2&rerank=judge&rerank_top=4")
        assert by_get.json == answer
        plain = served.post("/search", {"query": QUERY, "k": 2}).json["hits"]
        assert all("retrieval_score" not in hit for hit in plain)


@pytest.mark.parametrize(
    ("options", "status", "problem"),
    [
        ({"rerank": "none"}, 404, "none"),
        ({"rerank": "w"}, 400, "'w' is not a reranker"),
        ({"rerank": ""}, 400, "'rerank'"),
        ({"rerank": "judge", "rerank_top": 1001}, 400, "rerank_top is 1,001: at most 1,000"),
        ({"rerank": "judge", "rerank_top": 0}, 400, "'rerank_top'"),
    ],
)
def test_a_search_that_cannot_be_reranked(
    options: dict[str, object], status: int, problem: str, served: Running
) -> None:
    answer = served.post("/search", {"query": QUERY, **options})
    assert answer.status == status
    assert problem in answer.json["error"]["message"]


def test_nothing_found_is_not_reranked(served: Running) -> None:
    request = {"query": QUERY, "where": ["row>=99"], "rerank": "judge"}
    assert served.post("/search", request).json["hits"] == []


def test_models_name_the_reranker(served: Running) -> None:
    models = {one["name"]: one for one in served.get("/models").json["models"]}
    assert models["judge"]["kind"] == "reranker"
    assert (models["judge"]["layers"], models["judge"]["max_tokens"]) == (3, 38)
