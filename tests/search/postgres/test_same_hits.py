"""An index in PostgreSQL has the same hits in the same order as one in memory."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import malmoi as mm
from malmoi.errors import MalmoiWarning
from malmoi.search.index import Index
from tests.postgres_server import PrivateServer
from tests.search.postgres.texts import BAG, QUERIES, drawn, same
from tests.search.worlds import BagOfWords

SEARCHES = [
    {},
    {"exact": True},
    {"lexical": True},
    {"hybrid": True},
    {"hybrid": True, "weight": 0.0},
    {"hybrid": True, "weight": 1.0},
    {"where": {"lang": "ko"}},
    {"where": "year>=2019", "lexical": True},
    {"where": ["lang=en", "year!=2021"], "hybrid": True},
]


@pytest.fixture(scope="module")
def both(server: PrivateServer) -> tuple[Index, Index]:
    texts, fields = drawn()
    url = f"{server.url}&table=same_hits"
    local = mm.build_index(BAG, texts, fields=fields)
    return local, mm.build_index(BAG, texts, fields=fields, path=url)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.filterwarnings("ignore::malmoi.errors.MalmoiWarning")
def test_the_same_ten_hits_in_the_same_order(both: tuple[Index, Index], query: str) -> None:
    local, table = both
    for search in SEARCHES:
        same(local.search(query, **search), table.search(query, **search))  # type: ignore[arg-type]
        same(local.search(query, 200, **search), table.search(query, 200, **search))  # type: ignore[arg-type]


def test_the_same_weight_is_learnt(both: tuple[Index, Index]) -> None:
    local, table = both
    assert table.state.fusion == local.state.fusion
    table.search("bank", hybrid=True)
    assert table.state.spread == pytest.approx(local.state.spread, rel=1e-6)


def test_an_index_answers_as_a_mapping_of_ids(both: tuple[Index, Index]) -> None:
    local, table = both
    assert list(table) == list(local)
    assert len(table) == len(local)
    assert table["7"] == local["7"]
    assert table[7] == local[7]
    assert "7" in table
    assert 7 in table
    assert "none" not in table
    assert None not in table
    assert "\0" not in table
    assert table.vectors.keys == local.vectors.keys
    np.testing.assert_array_equal(table.vectors.matrix, local.vectors.matrix)
    assert repr(table) == repr(local)
    assert "bank" in table._repr_html_()
    assert list(table.entries()) == list(local.entries())
    with pytest.raises(mm.UnknownWordError):
        table["none"]


def test_a_copy_in_a_folder_has_the_same_hits(both: tuple[Index, Index], tmp_path: Path) -> None:
    local, table = both
    table.save(tmp_path / "copy")
    copy = mm.open_index(tmp_path / "copy", BAG)
    same(local.search("bank 은행", hybrid=True), copy.search("bank 은행", hybrid=True))


def test_invalid_queries_have_the_same_messages(both: tuple[Index, Index]) -> None:
    searches: list[Callable[[Index], object]] = [
        lambda index: index.search("  "),
        lambda index: index.search("bank", 0),
        lambda index: index.search("bank", weight=0.5),
        lambda index: index.search("bank", where="colour=red"),
        lambda index: index.search(np.ones(3, np.float32)),
        lambda index: index.search(np.ones(16, np.float32), lexical=True),
    ]
    for search in searches:
        messages = []
        for index in both:
            with pytest.raises(mm.MalmoiError) as caught:
                search(index)
            messages.append(str(caught.value))
        assert messages[0] == messages[1]


def test_words_that_no_text_has_are_warned_of(both: tuple[Index, Index]) -> None:
    for index in both:
        with pytest.warns(MalmoiWarning, match="no text contains any word of 'zebra'"):
            assert index.search("zebra", lexical=True) == []


@dataclass(frozen=True)
class SentenceBag(BagOfWords):
    """Splits texts into their sentences."""

    def passages(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        return [[found.span() for found in re.finditer(r"[^.]+\.?", text)] for text in texts]


def test_long_texts_are_searched_by_passage(url: str) -> None:
    texts, _ = drawn(60)
    long = [". ".join(texts[i : i + 3]) for i in range(0, 60, 2)]
    bag = SentenceBag()
    local, table = mm.build_index(bag, long), mm.build_index(bag, long, path=url)
    assert table.state.vector_count == local.state.vector_count > len(long)
    for query in QUERIES[:5]:
        for search in ({}, {"hybrid": True}, {"lexical": True}):
            same(local.search(query, **search), table.search(query, **search))  # type: ignore[arg-type]
    assert any(hit.span for hit in table.search("bank"))


def test_vectors_without_an_encoder(url: str) -> None:
    vectors = mm.Vectors(["고양이", "dog", "zero"], np.array([[1, 2], [2, 1], [0, 0]], np.float32))
    local, table = mm.build_index(vectors), mm.build_index(vectors, path=url)
    same(local.search("dog"), table.search("dog"))
    same(local.search(np.array([-1.0, 0.1])), table.search(np.array([-1.0, 0.1])))
    with pytest.raises(mm.UnknownWordError):
        table.search("cat")
