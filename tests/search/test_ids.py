"""Ids: integers are stored as strings and looked up as users write them; the rest is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from malmoi.errors import InvalidArgumentError, InvalidFileError, UnknownWordError
from malmoi.search.build import build_index
from malmoi.search.entries import RecordSource
from malmoi.search.index import Index
from malmoi.search.storage.entry import Entry
from malmoi.search.update import update_index
from tests.search.worlds import TEXTS, BagOfWords

BAG = BagOfWords()
NOT_IDS = [True, 1.5, 3.0, float("nan"), None, b"3", ["3"], np.float64(2), np.bool_(True)]


def numbered(ids: Any = (1, 2, 3)) -> Index:
    return build_index(BAG, TEXTS[:3], ids=ids)


@pytest.mark.parametrize("ids", [[1, 2, 3], np.array([1, 2, 3]), range(1, 4), ["1", 2, "3"]])
def test_integers_are_stored_as_strings(ids: Any) -> None:
    index = numbered(ids)
    assert list(index.vectors.keys) == ["1", "2", "3"]
    assert index.search(TEXTS[1], 1)[0].id == "2"


@pytest.mark.parametrize("id", [3, "3", np.int64(3)])
def test_a_text_is_looked_up_by_number_and_by_string(id: Any) -> None:
    index = numbered()
    assert index[id].text == TEXTS[2]
    assert id in index
    assert index.delete([id]) == 1
    assert id not in index
    with pytest.raises(UnknownWordError, match="'3' is not in the index"):
        index[id]


@pytest.mark.parametrize("id", ["23", 23])
def test_a_single_id_is_deleted_as_one(id: str | int) -> None:
    index = build_index(BAG, TEXTS[:3], ids=["2", "3", "23"])
    assert index.delete(id) == 1
    assert "2" in index
    assert "3" in index


def test_texts_are_added_and_replaced_by_number() -> None:
    index = numbered()
    index.add(["another text"], ids=[3])
    assert (len(index), index["3"].text) == (3, "another text")


def test_an_update_knows_integers_again(tmp_path: Path) -> None:
    entries = [Entry(i, text) for i, text in enumerate(TEXTS)]
    update_index(tmp_path / "i", BAG, entries)
    again = update_index(tmp_path / "i", BAG, [Entry(str(i), text) for i, text in enumerate(TEXTS)])
    assert again.unchanged == len(TEXTS)


def test_an_index_iterates_over_its_ids() -> None:
    index = numbered([0, 1, 7])
    index.delete(1)
    assert list(index) == ["0", "7"]
    assert all(id in index for id in index)


def test_the_number_and_its_string_are_the_same_id() -> None:
    with pytest.raises(InvalidArgumentError, match="the id '3' occurs twice"):
        numbered([1, 3, "3"])


@pytest.mark.parametrize("id", NOT_IDS, ids=repr)
def test_other_ids_are_refused_with_their_row(id: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"the id of text 1 is .*: ids are strings or"):
        numbered([1, id, 3])
    with pytest.raises(InvalidArgumentError, match="the id of the text 'some text' is"):
        Entry(id, "some text")
    index = numbered()
    assert id not in index
    with pytest.raises(InvalidArgumentError, match="the id to look up is"):
        index[id]
    with pytest.raises(InvalidArgumentError, match="the id to delete is"):
        index.delete([id])


def test_floats_have_a_reason() -> None:
    with pytest.raises(InvalidArgumentError, match="missing values turn a column of integers"):
        numbered([1.0, 2.0, float("nan")])


def test_an_id_is_found_in_the_other_unicode_form() -> None:
    composed, decomposed = "가", "가"
    index = build_index(BAG, TEXTS[:1], ids=[decomposed])
    assert composed in index
    assert decomposed in index
    assert index.delete(decomposed) == 1


def write(path: Path, ids: list[Any]) -> Path:
    if path.suffix == ".parquet":
        table = pyarrow.table({"n": ids, "text": TEXTS[: len(ids)]})
        pyarrow.parquet.write_table(table, path)
    elif path.suffix == ".csv":
        rows = [f'{id},"{t}"'.removeprefix("None") for id, t in zip(ids, TEXTS, strict=False)]
        path.write_text("\n".join(["n,text", *rows]), encoding="utf-8")
    else:
        rows = [json.dumps({"n": id, "text": t}) for id, t in zip(ids, TEXTS, strict=False)]
        path.write_text("\n".join(rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_columns_of_integers_are_ids(tmp_path: Path, name: str) -> None:
    entries = RecordSource(text=("text",), id="n").entries(write(tmp_path / name, [7, 8]))
    assert [entry.id for entry in entries] == ["7", "8"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_missing_ids_name_their_row(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, [7, None])
    with pytest.raises(InvalidFileError, match=rf"{name}:\d+: the field 'n' for the id is missing"):
        RecordSource(text=("text",), id="n").entries(path)


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_fractions_and_booleans_name_their_row(tmp_path: Path, name: str) -> None:
    for ids in ([1.5, 2.5], [True, False]):
        path = write(tmp_path / name, ids)
        with pytest.raises(InvalidArgumentError, match=rf"the id at {name}:\d+ is {ids[0]}"):
            RecordSource(text=("text",), id="n").entries(path)
