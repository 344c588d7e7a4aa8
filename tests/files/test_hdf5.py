"""The HDF5 reader beside h5py, and on files that are truncated, changed or hostile."""

import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malmoi.errors import InvalidFileError
from malmoi.files.hdf5.reader import Hdf5File, open_hdf5
from malmoi.files.source import InputFile

DTYPES = ["<f4", "<f8", "<f2", ">f4", "i1", "<i2", "<i4", ">i8", "u1", "<u8"]
NEW = {"libver": "latest"}


def opened(path: Path) -> Hdf5File:
    return open_hdf5(InputFile(path))


def written(path: Path, arrays: dict[str, Any], **options: Any) -> Path:
    with h5py.File(path, "w", **options) as file:
        for name, array in arrays.items():
            file[name] = array
    return path


def some_arrays(dtypes: list[str] = DTYPES) -> dict[str, Any]:
    numbers = np.random.default_rng(1).normal(0, 40, (3, 4, 2))
    return {f"group/{dtype[1:]}/{i}": numbers.astype(dtype) for i, dtype in enumerate(dtypes)}


@pytest.mark.parametrize("options", [{}, NEW, {"userblock_size": 0}], ids=["old", "new", "plain"])
def test_arrays_are_those_of_h5py(options: dict[str, Any], tmp_path: Path) -> None:
    arrays = some_arrays() | {"scalar": np.float32(3), "empty": np.zeros((0, 4), np.float64)}
    arrays |= {f"many/{i:03}": np.arange(i, dtype=np.float32) for i in range(1, 200)}
    if options == NEW:  # such groups of many members are in a fractal heap
        arrays = {name: array for name, array in arrays.items() if not name.startswith("many/")}
    del arrays["empty"]  # h5py stores no bytes of it
    file = opened(written(tmp_path / "a.hdf5", arrays, **options))
    assert sorted(file) == sorted(arrays)
    assert len(file) == len(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(file[name], array)
        assert file[name].dtype == np.asarray(array).dtype
    assert "group" not in file


def test_arrays_are_views_of_the_file(tmp_path: Path) -> None:
    file = opened(written(tmp_path / "a.hdf5", {"a": np.ones((5, 5), np.float32)}))
    assert not file["a"].flags.owndata
    assert not file["a"].flags.writeable


@pytest.mark.parametrize(
    ("write", "sentence"),
    [
        (lambda file: file.create_dataset("a", data=np.ones(50), compression="gzip"),
         "'a' is compressed: write it uncompressed"),
        (lambda file: file.create_dataset("a", data=np.ones(50), chunks=(10,)),
         "'a' is stored in chunks"),
        (lambda file: file.create_dataset("a", (4,), np.float32), "'a' was never written"),
        (lambda file: file.create_dataset("a", data="text"), "'a' does not hold numbers"),
        (lambda file: file.create_dataset("a", data=np.ones(3, "c8")), "'a' does not hold numbers"),
    ],
)  # fmt: skip
def test_other_arrays_are_refused_when_they_are_used(
    write: Callable[[Any], None], sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.hdf5"
    with h5py.File(path, "w") as h5:
        write(h5)
        h5["b"] = np.ones(3)
    file = opened(path)
    np.testing.assert_array_equal(file["b"], np.ones(3))
    with pytest.raises(InvalidFileError, match=sentence) as refused:
        file["a"]
    assert str(path) in str(refused.value)


def test_compact_arrays_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.hdf5"
    with h5py.File(path, "w") as h5:
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple((3,))
        one = h5py.h5d.create(h5.id, b"a", h5py.h5t.IEEE_F32LE, space, creation)
        one.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(3, dtype=np.float32))
    np.testing.assert_array_equal(opened(path)["a"], [0, 1, 2])


def test_links_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a.hdf5", {"a": np.ones(3)}, **NEW)
    with h5py.File(path, "a", **NEW) as file:
        file["soft"] = h5py.SoftLink("/a")
    with pytest.raises(InvalidFileError, match="'soft' is a link to another name"):
        opened(path)


def test_files_that_are_something_else_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.hdf5"
    for content, sentence in (
        (b"", "is empty"),
        (b"PK\x03\x04", "is not an HDF5 file"),
        (b"\x1f\x8b" + bytes(30), "is compressed"),
        (b"\x89HDF\r\n\x1a\n", "is damaged"),
        (b"\x89HDF\r\n\x1a\n\x07" + bytes(90), "its superblock has the unknown version 7"),
    ):
        path.write_bytes(content)
        with pytest.raises(InvalidFileError, match=sentence):
            opened(path)
    with pytest.raises(InvalidFileError, match="does not exist"):
        opened(tmp_path / "missing")


@pytest.mark.parametrize("options", [{}, NEW], ids=["old", "new"])
def test_a_file_truncated_anywhere_is_refused(options: dict[str, Any], tmp_path: Path) -> None:
    arrays = some_arrays(["<f4", "<i8"])
    path = written(tmp_path / "a.hdf5", arrays, **options)
    whole = path.read_bytes()
    for size in range(8, len(whole), 5 if len(whole) < 9000 else 61):
        path.write_bytes(whole[:size])
        found = arrays_or_error(path)
        assert isinstance(found, str), size
        assert str(path) in found


def arrays_or_error(path: Path) -> dict[str, Any] | str:
    """All arrays of a file, or the sentence about what is wrong with it."""
    try:
        return dict(opened(path))
    except InvalidFileError as error:
        return str(error)


@pytest.mark.parametrize("options", [{}, NEW], ids=["old", "new"])
@pytest.mark.parametrize("seed", range(40))
def test_a_file_with_changed_bytes_is_read_or_refused(
    options: dict[str, Any], seed: int, tmp_path: Path
) -> None:
    arrays = some_arrays(["<f4", "<i8"])
    path = written(tmp_path / "a.hdf5", arrays, **options)
    whole, chance = path.read_bytes(), random.Random(seed)
    for _ in range(60):
        changed = bytearray(whole)
        for _ in range(chance.choice([1, 2, 8])):
            at = chance.randrange(len(changed) - 8)
            value = chance.choice([0, 1, 255, 2**63, 2**64 - 1, at, chance.randrange(2**32)])
            if chance.random() < 0.5:
                changed[at] = value & 255
            else:
                changed[at : at + 8] = struct.pack("<Q", value)
        path.write_bytes(bytes(changed))
        found = arrays_or_error(path)
        if isinstance(found, str):
            assert str(path) in found
            assert "\n" not in found
        else:
            assert all(array.dtype.kind in "iuf" for array in found.values())


def test_a_group_that_contains_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.hdf5"
    with h5py.File(path, "w") as file:
        file["group/inner/a"] = np.ones(3)
        file["group/inner/again"] = file["group"]  # a hard link: a cycle
    with pytest.raises(InvalidFileError, match="is used twice"):
        opened(path)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 5), max_size=4), st.sampled_from(DTYPES))
def test_any_shape_is_read(
    tmp_path_factory: pytest.TempPathFactory, shape: list[int], dtype: str
) -> None:
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    path = written(tmp_path_factory.mktemp("any") / "a.hdf5", {"x/y": array})
    np.testing.assert_array_equal(opened(path)["x/y"], array)
