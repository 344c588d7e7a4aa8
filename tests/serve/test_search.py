"""/search answers what the index does; its query goes through the batches of everybody's texts."""

import pytest

from malmoi.encode.encoder import TransformerEncoder
from malmoi.encode.prompts import Prompts
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
