"""/search answers what the index does; its query goes through the batches of everybody's texts."""

import pytest

from malmoi.encode.encoder import TransformerEncoder
from malmoi.encode.pipeline.prompts import Prompts
from malmoi.search.build import build_index
from malmoi.serve.service.loaded_models import LoadedModel, Models
from tests.serve.fixtures import serving

pytestmark = pytest.mark.filterwarnings("ignore:.*unknown tokens")  # Korean for English models

TEXTS = ["A dam broke. " * 200 + "The valley was flooded.", "A man plays the guitar.", "서울의 밤"]


@pytest.mark.parametrize("prompts", [None, Prompts(document="passage: ", query="query: ")])
def test_search_is_the_librarys(minilm: TransformerEncoder, prompts: Prompts | None) -> None:
    index = build_index(minilm, TEXTS, prompts=prompts)
    with serving(Models({"i": LoadedModel("i", "i", index=index)})) as server:
        for way in ({}, {"hybrid": True}, {"lexical": True}):
            asked = {"query": "a flooded valley", "k": 2, **way}
            found = server.post("/search", asked)
            expected = index.search("a flooded valley", 2, **way)  # type: ignore[arg-type]
            assert found.status == 200
            assert [hit["id"] for hit in found.json["hits"]] == [hit.id for hit in expected]
            for hit, other in zip(found.json["hits"], expected, strict=True):
                assert hit["score"] == pytest.approx(other.score, abs=1e-5)
                assert hit["span"] == (other.span and list(other.span))


def test_the_weight_of_a_hybrid_search_is_taken_and_told(minilm: TransformerEncoder) -> None:
    index = build_index(minilm, TEXTS)
    with serving(Models({"i": LoadedModel("i", "i", index=index)})) as server:
        learnt = server.post("/search", {"query": "guitar", "hybrid": True})
        assert learnt.json["weight"] == index.state.weight
        given = server.post("/search", {"query": "guitar", "hybrid": True, "weight": 0.25})
        assert given.json["weight"] == 0.25
        assert server.post("/search", {"query": "guitar"}).json["weight"] is None
        for wrong in (
            {"weight": 2, "hybrid": True},
            {"weight": "a", "hybrid": True},
            {"weight": 0},
        ):
            assert server.post("/search", {"query": "guitar", **wrong}).status == 400


def test_a_query_is_counted_as_a_text_of_a_batch(
    minilm: TransformerEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = build_index(minilm, TEXTS)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the index embedded its query by itself")

    monkeypatch.setattr(TransformerEncoder, "encode", refuse)
    with serving(Models({"i": LoadedModel("i", "i", index=index)})) as server:
        found = server.post("/search", {"query": "guitar " * 500, "k": 1})
        assert found.json["hits"][0]["id"] == "1"
        assert found.headers["x-truncated-texts"] == "1"
        assert server.post("/search", {"query": "서울", "lexical": True}).json["hits"]
        korean = server.post("/search", {"query": "기타를 연주하는 사람"})
        assert korean.headers["x-fragmented-texts"] == "1"


def test_a_get_answers_as_a_post_does(minilm: TransformerEncoder) -> None:
    fields = [{"year": year} for year in (2018, 2019, 2020)]
    index = build_index(minilm, TEXTS, fields=fields)
    with serving(Models({"i": LoadedModel("i", "i", index=index)})) as server:
        for query, body in (
            ("q=guitar&k=2", {"query": "guitar", "k": 2}),
            (
                "q=guitar&index=i&hybrid=true&weight=0.5",
                {"query": "guitar", "hybrid": True, "weight": 0.5},
            ),
            ("q=%EC%84%9C%EC%9A%B8&lexical=1", {"query": "서울", "lexical": True}),
            (
                "q=night&where=year%3E%3D2019&where=year%3C2020",
                {"query": "night", "where": ["year>=2019", "year<2020"]},
            ),
        ):
            by_get = server.get(f"/search?{query}")
            assert by_get.status == 200
            assert by_get.json == server.post("/search", body).json
            assert by_get.json["hits"]


@pytest.mark.parametrize(
    ("query", "status", "message"),
    [
        ("", 400, "missing required field q"),
        ("q=", 400, "missing required field q"),
        ("q=a&k=0", 400, "'k'"),
        ("q=a&k=1001", 400, "1,000"),
        ("q=a&k=x", 400, "'k'"),
        ("q=a&index=none", 404, "none"),
        ("q=a&query=b", 400, "unknown field query"),
        ("q=a&weight=2&hybrid=1", 400, "'weight'"),
        ("q=a&" + "&".join(["where=a=1"] * 33), 400, "33 filters"),
        ("q=%ff", 400, "not UTF-8"),
    ],
)
def test_a_wrong_get_gets_one_sentence(
    minilm: TransformerEncoder, query: str, status: int, message: str
) -> None:
    index = build_index(minilm, TEXTS[1:])
    with serving(Models({"i": LoadedModel("i", "i", index=index)})) as server:
        answer = server.get(f"/search?{query}")
        assert answer.status == status
        assert message in answer.json["error"]["message"]
