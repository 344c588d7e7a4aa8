"""Arrays in one file: safetensors reads what is written, and the same is written every time."""

from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

from malmoi.files.source import InputFile
from malmoi.files.tensors import DTYPES, Tensors, read_safetensors, write_safetensors

SAID = {"kind": "말", "b": '{"quoted": "text"}', "a": ""}


@pytest.fixture
def arrays() -> Tensors:
    numbers = np.arange(21).reshape(3, 7)
    made: Tensors = {name: numbers.astype(dtype) for name, dtype in DTYPES.items()}
    made |= {"none": np.empty((0, 4), np.int64), "single": np.array(12.0, np.float32)}
    made |= {"odd": np.frombuffer(b"12345", np.uint8), "turned": numbers.astype(np.float32).T}
    return made | {"말": np.zeros(1, np.uint8)}


def test_safetensors_reads_what_is_written(arrays: Tensors, tmp_path: Path) -> None:
    write_safetensors(tmp_path / "x", {**arrays, "absent": None}, SAID)
    with safe_open(tmp_path / "x", framework="numpy") as file:
        assert SAID.items() <= file.metadata().items()
        assert set(file.metadata()) - set(SAID) == {"crc32", "crc32_blocks"}
        assert set(file.keys()) == set(arrays)
        for name, array in arrays.items():
            found = file.get_tensor(name)
            assert found.dtype == array.dtype
            np.testing.assert_array_equal(found, array)


def test_arrays_come_back_at_even_addresses(arrays: Tensors, tmp_path: Path) -> None:
    write_safetensors(tmp_path / "x", arrays, SAID)
    found, said = read_safetensors(InputFile(tmp_path / "x"))
    assert said == SAID
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].flags.aligned


def test_the_same_arrays_make_the_same_file(arrays: Tensors, tmp_path: Path) -> None:
    write_safetensors(tmp_path / "x", arrays, SAID)
    turned = {name: arrays[name] for name in reversed(arrays)}
    write_safetensors(tmp_path / "y", turned, dict(reversed(SAID.items())))
    assert (tmp_path / "x").read_bytes() == (tmp_path / "y").read_bytes()
