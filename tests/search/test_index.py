from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.errors import InvalidArgumentError, MalmoiWarning, UnknownWordError
from malmoi.search.build import build_index, open_index
from malmoi.search.index import Index
from malmoi.search.querying.hits import Hit
from malmoi.vectors import Vectors
from tests.search.worlds import FIELDS, TEXTS, BagOfWords, naive_nearest

BAG = BagOfWords()
WAYS: tuple[dict[str, Any], ...] = ({}, {"lexical": True}, {"hybrid": True})


def small(path: Path | None = None) -> Index:
    return build_index(BAG, TEXTS, fields=FIELDS, path=path)


def ids(hits: list[Hit]) -> list[str]:
    return [hit.id for hit in hits]


def test_a_hit_is_the_text_with_its_cosine_and_fields() -> None:
    (hit,) = small().search(TEXTS[1], k=1)
    assert (hit.id, hit.text, hit.fields) == ("1", TEXTS[1], FIELDS[1])
    assert hit.score == pytest.approx(1, abs=1e-6)


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 60))
def test_search_equals_brute_force(seed: int, rows: int, k: int) -> None:
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(rows, 6)).astype(np.float32)
    index = build_index(Vectors([f"w{i}" for i in range(rows)], matrix))
    gone = random.random(rows) < random.choice([0, 0.2, 0.95])
    index.delete([f"w{i}" for i in np.flatnonzero(gone)])
    direction = random.normal(size=6).astype(np.float32)
    expected = naive_nearest(matrix, direction, k, np.flatnonzero(~gone).tolist())
    assert ids(index.search(direction, k)) == [f"w{i}" for i in expected]


@pytest.mark.parametrize("scale", [1e-38, 1e-22, 1e-15, 3, 1e19, 1e37])
def test_the_length_of_a_query_does_not_matter(scale: float) -> None:
    index, query = small(), BAG.encode([TEXTS[1]])[0]
    (hit,) = index.search(query * np.float32(scale), 1)
    assert hit.id == "1"
    assert hit.score == pytest.approx(1, abs=1e-5)


def test_a_folder_holds_what_memory_holds(tmp_path: Path) -> None:
    memory, opened = small(), small(tmp_path / "i")
    again = open_index(tmp_path / "i", BAG)
    for query in ("river bank", "서울", "interest"):
        for way in WAYS:
            expected = memory.search(query, 4, **way)
            assert opened.search(query, 4, **way) == expected
            assert again.search(query, 4, **way) == expected


def test_rows_are_added_replaced_and_deleted(tmp_path: Path) -> None:
    index = small(tmp_path / "i")
    index.add(["A piano", "서울의 밤"], ids=["new", "3"], fields=[{"lang": "en"}, {}])
    assert index.delete(["0", "7", "never"]) == 2
    for seen in (index, open_index(tmp_path / "i", BAG)):
        assert len(seen) == 7
        assert "0" not in seen
        assert seen["3"].text == "서울의 밤"
        assert seen["new"].fields == {"lang": "en"}
        assert ids(seen.search("A piano", 1)) == ["new"]
        assert len(seen.search("서울", 99)) == 7
        assert ids(seen.search("밤", lexical=True)) == ["3"]
        assert sorted(seen.vectors.keys) == ["1", "2", "3", "4", "5", "6", "new"]


def test_whoever_opened_an_index_goes_on_reading_what_he_opened(tmp_path: Path) -> None:
    writer = small(tmp_path / "i")
    reader = open_index(tmp_path / "i", BAG)
    before = reader.search("river", 8)
    writer.delete([str(i) for i in range(7)])
    assert len(writer) == 1
    assert reader.search("river", 8) == before


def test_two_writers_of_the_same_folder_lose_nothing(tmp_path: Path) -> None:
    one, other = small(tmp_path / "i"), open_index(tmp_path / "i", BAG)
    one.add(["one"], ids=["one"])
    other.add(["other"], ids=["other"])
    assert {"one", "other"} <= set(open_index(tmp_path / "i", BAG).vectors.keys)


def test_many_small_writes_leave_few_segments(tmp_path: Path) -> None:
    index = small(tmp_path / "i")
    for i in range(40):
        index.add([f"text number {i}"], ids=[f"n{i}"], fields=[{"number": i}])
    assert len(index) == 48
    assert len(index.state.segments) < 8
    files = [path.name for path in (tmp_path / "i").glob("segment-*")]
    assert len(files) == len(index.state.segments)
    assert ids(index.search("text number 17", 1)) == ["n17"]
    assert index["n17"].fields == {"number": 17}


def test_keys_of_vectors_are_asked_by_name_or_by_vector(words: Vectors) -> None:
    index = build_index(words)
    assert ids(index.search("king", 1)) == ["king"]
    assert ids(index.search(words["한국"], 1)) == ["한국"]
    with pytest.raises(UnknownWordError, match="emperor"):
        index.search("emperor")
    with pytest.raises(
        InvalidArgumentError, match="this index was built from vectors and has no encoder for texts"
    ):
        index.add(["emperor"], ids=["emperor"])


def test_korean_in_letters_finds_syllables() -> None:
    index = small()
    apart = normalize("NFD", "서울")
    for way in WAYS:
        assert index.search(apart, 3, **way) == index.search("서울", 3, **way)
    assert ids(index.search("bank", where={"lang": "ko"})) != []


def test_an_index_without_texts_finds_nothing(tmp_path: Path) -> None:
    index = build_index(BAG, [], path=tmp_path / "i")
    assert index.search("anything") == []
    index.add(["first"], ids=["a"])
    assert ids(open_index(tmp_path / "i", BAG).search("first")) == ["a"]
    index.delete(["a"])
    assert open_index(tmp_path / "i", BAG).search("first", hybrid=True) == []


def test_a_copy_is_an_index_of_its_own(tmp_path: Path) -> None:
    index = small(tmp_path / "i")
    index.save(tmp_path / "copy")
    index.delete(["1"])
    assert len(open_index(tmp_path / "copy", BAG)) == 8
    with pytest.raises(InvalidArgumentError, match="already"):
        index.save(tmp_path / "copy")


@pytest.mark.parametrize(
    ("query", "options", "said"),
    [
        ("", {}, "the query is empty"),
        (" \t", {"lexical": True}, "the query is empty"),
        ("x", {"k": 0}, "k must be at least 1; got 0"),
        ("x", {"where": {"colour": "red"}}, "no text has the field 'colour': there are lang"),
        ("x", {"where": "lang"}, "'lang' is not a filter"),
        (
            np.zeros(3, np.float32),
            {},
            "a query is a text or a vector of 16 dimensions; got shape .3,.",
        ),
        (np.full(16, np.nan), {}, "the vector of the query holds nan or inf"),
        (np.full(16, np.inf), {}, "the vector of the query holds nan or inf"),
        (np.ones(16, np.float32), {"lexical": True}, "a lexical search needs a text, not a vector"),
    ],
)
def test_questions_that_make_no_sense(query: object, options: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        small().search(query, **options)  # type: ignore[arg-type]


def test_unknown_words_are_said_and_find_nothing() -> None:
    with pytest.warns(MalmoiWarning, match="no text contains any word of 'xyzzy'"):
        assert small().search("xyzzy", lexical=True) == []
    with pytest.warns(MalmoiWarning, match="knows none of its words"):
        assert small().search(np.zeros(16, np.float32)) == []


def test_texts_that_make_no_index() -> None:
    with pytest.raises(InvalidArgumentError, match="the id 'a' occurs twice: ids must be unique"):
        build_index(BAG, ["x", "y"], ids=["a", "a"])
    with pytest.raises(InvalidArgumentError, match="1 ids for 2 texts"):
        build_index(BAG, ["x", "y"], ids=["a"])
    with pytest.raises(InvalidArgumentError, match="texts is the single string 'x'"):
        build_index(BAG, "x")
    with pytest.raises(InvalidArgumentError, match=r"text number 1 is 3 \(int\): pass a string"):
        build_index(BAG, [3])  # type: ignore[list-item]
    with pytest.raises(InvalidArgumentError, match="a field is text, a number or other JSON"):
        build_index(BAG, ["x"], fields=[{"a": object()}])
    with pytest.raises(InvalidArgumentError, match="holds nan or inf"):
        build_index(Vectors(["a"], [[float("nan")]]))


def test_another_encoder_is_refused(tmp_path: Path) -> None:
    small(tmp_path / "i")
    with pytest.raises(
        InvalidArgumentError, match="'other' is not the model of this index, which is 'bag'"
    ):
        open_index(tmp_path / "i", BagOfWords("other"))
    with pytest.raises(InvalidArgumentError, match="vectors have 8 dimensions, not 16"):
        open_index(tmp_path / "i", BagOfWords(dim=8))
    moved = BagOfWords("bag")
    assert open_index(tmp_path / "i", moved).search("river", 1)


def test_an_id_that_is_not_there_is_said_to_be_missing_from_the_index() -> None:
    index = small()
    with pytest.raises(UnknownWordError, match="'zzz' is not in the index"):
        index["zzz"]
    with pytest.raises(UnknownWordError, match=f"'{2**70}' is not in the index"):
        index[2**70]
    assert 2**70 not in index
    assert "\ud800" not in index
