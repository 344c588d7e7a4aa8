"""Adding, replacing, deleting and updating, by one writer or by several at once."""

from dataclasses import replace
from threading import Thread

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import malmoi as mm
from malmoi.search.querying.filters import RELATIONS
from malmoi.unicode import normalize
from tests.search.postgres.texts import BAG, QUERIES, drawn, same
from tests.search.worlds import BagOfWords


@pytest.mark.filterwarnings("ignore::malmoi.errors.MalmoiWarning")
def test_changes_give_the_same_hits_as_in_memory(url: str) -> None:
    texts, fields = drawn(80)
    local = mm.build_index(BAG, texts[:50], fields=fields[:50])
    table = mm.build_index(BAG, texts[:50], fields=fields[:50], path=url)
    for index in (local, table):
        index.add(texts[50:], ids=range(30, 60), fields=fields[50:])  # half of them exist
        assert index.delete([3, "4", "none", "4"]) == 2
        index.add(["bank of Seoul"], ids=["5"])
    assert list(table) == list(local)
    assert table.state.fusion == local.state.fusion
    for query in QUERIES:
        for search in ({}, {"lexical": True}, {"hybrid": True}, {"where": {"lang": "ko"}}):
            same(local.search(query, **search), table.search(query, **search))
    assert table.delete(list(local)) == len(local)
    assert len(table) == 0
    assert table.search("bank") == []
    table.add(["again"], ids=["again"])
    assert [hit.id for hit in table.search("again")] == ["again"]


def test_an_update_embeds_only_what_is_new(url: str) -> None:
    entries = [mm.Entry(i, f"text number {i}", {"n": i}) for i in range(20)]
    first = mm.update_index(url, BAG, entries)
    assert (first.added, first.embedded, first.texts) == (20, 20, 20)
    noting = replace(BAG, seen=([],))
    changed = [*entries[1:], mm.Entry("moved", "text number 0"), mm.Entry("3x", "new text")]
    changed[0] = mm.Entry(1, "text number 1", {"n": 7})
    second = mm.update_index(url, noting, changed)
    counts = (second.added, second.changed, second.removed, second.unchanged, second.embedded)
    assert counts == (2, 1, 1, 18, 1)
    assert noting.seen[0][-1] == "new text"
    index = mm.open_index(url, BAG)
    assert index["1"].fields == {"n": 7}
    assert "0" not in index
    assert [hit.id for hit in index.search("text number 0", 1)] == ["moved"]
    assert mm.update_index(url, BAG, [mm.Entry("more", "more")], keep=True).texts == 22


def test_open_indexes_see_the_changes_of_others(url: str) -> None:
    writer = mm.build_index(BAG, ["one"], path=url)
    reader = mm.open_index(url, BAG)
    writer.add(["two"], ids=["two"], fields=[{"colour": "red"}])
    assert [hit.id for hit in reader.search("two", 1, where={"colour": "red"})] == ["two"]
    assert len(reader) == 2


def test_writers_at_the_same_time_lose_nothing(url: str) -> None:
    mm.build_index(BAG, ["start"], ids=["start"], path=url)

    def add(name: int) -> None:
        index = mm.open_index(url, BAG)
        for i in range(8):
            index.add([f"word{name}{i}", "shared"], ids=[f"{name} {i}", "shared"])

    threads = [Thread(target=add, args=[name]) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    index = mm.open_index(url, BAG)
    expected = {"start", "shared", *(f"{name} {i}" for name in range(4) for i in range(8))}
    assert set(index) == expected
    assert len(index) == len(expected)
    for id in expected - {"shared"}:
        assert index.search(index[id].text, 1)[0].text == index[id].text


def test_ids_are_found_in_nfd_as_well(url: str) -> None:
    decomposed = normalize("NFD", "한국어")
    index = mm.build_index(BAG, [decomposed], ids=[decomposed], path=url)
    assert list(index) == ["한국어"]
    assert decomposed in index
    assert index[decomposed].text == "한국어"
    assert index.delete(decomposed) == 1


@pytest.mark.parametrize(
    ("text", "fields", "message"),
    [
        ("a\0b", {}, "NUL"),
        ("a", {"name": "x\0y"}, "NUL"),
        ("a\udc80", {}, "not valid Unicode"),
        ("a", {"n": float("nan")}, "NaN"),
    ],
)
def test_what_postgres_cannot_store_is_refused(
    url: str, text: str, fields: dict[str, object], message: str
) -> None:
    index = mm.build_index(BAG, ["first"], path=url)
    with pytest.raises(mm.InvalidArgumentError, match=message):
        index.add([text], ids=["x"], fields=[fields])
    assert list(index) == ["0"]


def test_a_giant_word_and_a_giant_id(url: str) -> None:
    giant = "x" * 1_000_000
    index = mm.build_index(BAG, [giant, "other"], path=url)
    assert [hit.id for hit in index.search(giant, lexical=True)] == ["0"]
    with pytest.raises(mm.InvalidArgumentError, match="has 3,000 bytes"):
        index.add(["text"], ids=["i" * 3000])


JSON = st.one_of(
    st.integers(-(10**18), 10**18),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.none(),
    st.text(max_size=6),
    st.sampled_from(["2020", "2020.0", "1e3", " 12 ", "1_0", "inf", "nan", "true", "[1]", "가"]),
    st.lists(st.integers(0, 3), max_size=2),
    st.dictionaries(st.sampled_from("ab"), st.integers(0, 3), max_size=2),
)
FIELD_VALUES = JSON.filter(lambda value: "\0" not in str(value))
CONDITIONS = st.one_of(
    st.builds(
        lambda relation, value: f"f{relation}{value}",
        st.sampled_from(RELATIONS),
        st.one_of(st.sampled_from(["2020", "2020.0", "1", "true", "가", "nan", "inf", "[1]", ""]),
                  st.floats(), st.integers(), st.text(max_size=4)),
    ),
    st.dictionaries(st.just("f"), st.one_of(FIELD_VALUES, st.lists(FIELD_VALUES, max_size=3)),
                    min_size=1),
).filter(lambda where: "\\x00" not in repr(where))  # fmt: skip


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    values=st.lists(FIELD_VALUES, min_size=1, max_size=6), wheres=st.lists(CONDITIONS, max_size=8)
)
def test_filters_hold_as_in_memory(url: str, values: list[object], wheres: list[object]) -> None:
    texts = ["text"] * (len(values) + 1)
    fields = [{"f": value} for value in values] + [{"f": "last", "other": 1}]
    local = mm.build_index(BAG, texts, fields=fields)
    if not index_of.get(url):
        index_of[url] = mm.build_index(BAG, ["text"], path=url)
    table = index_of[url]
    table.delete(list(table))
    table.add(texts, ids=range(len(texts)), fields=fields)
    assert [entry.fields for entry in table.entries()] == [e.fields for e in local.entries()]
    for where in wheres:
        hits = [
            {hit.id for hit in index.search("text", 20, where=where)}  # type: ignore[arg-type]
            for index in (local, table)
        ]
        assert hits[0] == hits[1], where


index_of: dict[str, mm.Index] = {}


def test_another_encoder_is_refused(url: str) -> None:
    mm.build_index(BAG, ["one"], path=url)
    with pytest.raises(mm.InvalidArgumentError, match="is not the model of this index"):
        mm.update_index(url, BagOfWords("other"), [mm.Entry("1", "one")])
