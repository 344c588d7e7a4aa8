"""HDF5 files that we write, as h5py and our own reader read them."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malmoi.errors import InvalidFileError
from malmoi.files.hdf5.reader import open_hdf5
from malmoi.files.hdf5.writer import write_hdf5
from malmoi.files.source import InputFile

names = st.text(st.characters(exclude_characters="/\0.", exclude_categories=["Cs"]), min_size=1)
shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with h5py.File(path) as file:
        file.visititems(
            lambda name, item: found.update({name: item[()]}) if hasattr(item, "shape") else None
        )
    return found


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(names, st.dictionaries(names, shapes, min_size=1), max_size=12))
def test_h5py_reads_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, groups: dict[str, dict[str, tuple[int, ...]]]
) -> None:
    random = np.random.default_rng(0)
    arrays = {
        f"{group}/{name}": np.asarray(random.standard_normal(shape), np.float32)
        for group, members in groups.items()
        for name, shape in members.items()
    }
    path = tmp_path_factory.mktemp("hdf5") / "a.hdf5"
    write_hdf5(path, arrays)
    found = read(path)
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == np.float32
        np.testing.assert_array_equal(found[name], array)
    own = open_hdf5(InputFile(path))
    assert own.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(own[name], array)


def test_a_group_with_many_entries_and_deep_groups(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {
        f"many/{number}": np.full(2, number, np.float32) for number in range(100)
    }
    arrays["a/b/c/d/e"] = np.arange(6, dtype=np.float32).reshape(2, 3).T
    write_hdf5(tmp_path / "a.hdf5", arrays)
    found = read(tmp_path / "a.hdf5")
    assert len(found) == 101
    np.testing.assert_array_equal(found["many/57"], [57, 57])
    np.testing.assert_array_equal(found["a/b/c/d/e"], [[0, 3], [1, 4], [2, 5]])


def test_the_same_arrays_make_the_same_file(tmp_path: Path) -> None:
    arrays = {"b": np.ones(3, np.float32), "a/c": np.zeros((2, 2), np.float32)}
    for name in ("one", "two"):
        write_hdf5(tmp_path / name, arrays)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_file_without_arrays(tmp_path: Path) -> None:
    write_hdf5(tmp_path / "empty.hdf5", {})
    assert read(tmp_path / "empty.hdf5") == {}


def test_a_name_cannot_be_an_array_and_a_group(tmp_path: Path) -> None:
    array = np.ones(1, np.float32)
    with pytest.raises(ValueError, match="a of a/b is an array already"):
        write_hdf5(tmp_path / "x.hdf5", {"a": array, "a/b": array})


def test_a_missing_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match="there is no folder"):
        write_hdf5(tmp_path / "none" / "x.hdf5", {"a": np.ones(1, np.float32)})
