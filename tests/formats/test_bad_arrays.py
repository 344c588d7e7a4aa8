"""Arrays and tables that are damaged, or whose words are: NumPy's, Parquet's, the projector's."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from malmoi.errors import InvalidFileError
from malmoi.formats import load, save
from malmoi.vectors import Vectors

VECTORS = [[1.0, 2.0], [3.0, 4.0]]


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(InvalidFileError) as caught:
        load(path, **options)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def table(folder: Path, **columns: Any) -> Path:
    parquet.write_table(pyarrow.table(columns), folder / "table.parquet")
    return folder / "table.parquet"


@pytest.mark.parametrize("suffix", [".malmoi", ".parquet", ".npy"])
def test_files_opened_in_place_are_refused_when_cut(
    suffix: str, words: Vectors, tmp_path: Path
) -> None:
    path = tmp_path / f"whole{suffix}"
    save(words, path)
    whole = path.read_bytes()
    for cut in [*range(1, len(whole), 23), len(whole) - 1]:
        path.write_bytes(whole[:cut])
        refusal(path)


def test_rows_of_different_width_in_parquet_are_refused(tmp_path: Path) -> None:
    # As many numbers as four rows of two have, and the first and the last row have two.
    ragged = [[1.0, 2.0], [3.0], [4.0, 5.0, 6.0], [7.0, 8.0]]
    assert "different width" in refusal(table(tmp_path, key=list("abcd"), vector=ragged))


def test_arrays_without_their_words_are_refused(words: Vectors, tmp_path: Path) -> None:
    for name in ("vectors.npy", "vectors.tsv"):
        save(words, tmp_path / name)
        others = [path for path in tmp_path.iterdir() if path.name != name]
        others[0].write_bytes(b"\n".join(others[0].read_bytes().splitlines()[:4]))
        assert "words for the 7 rows" in refusal(tmp_path / name)
        others[0].unlink()
        assert "has no words" in refusal(tmp_path / name)
        (tmp_path / name).unlink()


@pytest.mark.parametrize(
    "columns",
    [
        {"key": ["a", None], "vector": VECTORS},
        {"key": [1, 2], "vector": VECTORS},
        {"key": ["a", "b"], "vector": [[1.0, None], [3.0, 4.0]]},
        {"key": ["a", "b"], "vector": [[1.0, 2.0], None]},
        {"key": ["a", "b"], "vector": [[[1.0]], [[2.0]]]},
        {"key": ["a", "b"], "vector": ["1 2", "3 4"]},
        {"key": ["a", "b"], "vector": VECTORS, "count": [1, None]},
        {"key": ["a", "b"], "vector": VECTORS, "count": ["many", "few"]},
        {"word": ["a", "b"], "vector": VECTORS},
        {"key": ["a", "b"]},
    ],
)
def test_tables_that_hold_something_else_are_refused(
    columns: dict[str, list[Any]], tmp_path: Path
) -> None:
    refusal(table(tmp_path, **columns))


@pytest.mark.parametrize(
    ("keys", "vectors"),
    [
        (pyarrow.array(["a", "b"], pyarrow.large_string()), pyarrow.array(VECTORS)),
        (pyarrow.array(["a", "b"]).dictionary_encode(), pyarrow.array(VECTORS)),
        (["a", "b"], pyarrow.array(VECTORS, pyarrow.large_list(pyarrow.float64()))),
        (["a", "b"], pyarrow.array(VECTORS, pyarrow.list_(pyarrow.int8()))),
        (["a", "b"], pyarrow.array(VECTORS, pyarrow.list_(pyarrow.float32(), 2))),
        (["a", "b"], pyarrow.array([[9.0, 9.0], *VECTORS]).slice(1)),
    ],
)
def test_tables_by_others_are_read(keys: Any, vectors: Any, tmp_path: Path) -> None:
    found = load(table(tmp_path, key=keys, vector=vectors))
    assert list(found) == ["a", "b"]
    assert found.matrix.tolist() == VECTORS


def test_doubles_too_large_for_float32_are_refused_without_further_warning(tmp_path: Path) -> None:
    np.save(tmp_path / "large.npy", np.array([[1e300, 1.0], [2.0, 3.0]]))
    (tmp_path / "large.vocab.txt").write_text("a\nb\n")
    assert "inf" in refusal(tmp_path / "large.npy")
    assert "inf" in refusal(table(tmp_path, key=["a", "b"], vector=[[1e300, 1.0], [2.0, 3.0]]))


@pytest.mark.parametrize("array", [np.ones(3), np.ones((2, 2, 2)), np.array([["a", "b"]])])
def test_arrays_that_are_no_rows_of_numbers_are_refused(array: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "array.npy", array)
    (tmp_path / "array.vocab.txt").write_text("a\nb\n")
    assert "give numbers" in refusal(tmp_path / "array.npy")
