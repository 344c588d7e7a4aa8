"""Checksums: no flipped bit goes unnoticed, and none costs anything before it is used."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.tampering import signed_again, taken_apart, without_checksums
from malmoi.cli import run
from malmoi.errors import InvalidFileError
from malmoi.files import tensors
from malmoi.files.checksums import BLOCK_BYTES, block_checksums, byte_spans
from malmoi.files.source import InputFile
from malmoi.files.tensors import read_safetensors, write_safetensors
from malmoi.formats import load, save
from malmoi.subwords import SubwordVectors
from malmoi.vectors import Vectors

ROWS, DIM = 6000, 16


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of several blocks that is verified as it is used."""
    monkeypatch.setattr(tensors, "VERIFY_LAZILY_ABOVE", 0)
    matrix = np.random.default_rng(3).normal(size=(ROWS, DIM)).astype(np.float32)
    vectors = Vectors([f"word{row}" for row in range(ROWS)], matrix, np.arange(ROWS, 0, -1))
    save(vectors, tmp_path / "many.malmoi")
    return tmp_path / "many.malmoi"


def flip(path: Path, tensor: str, at: int = 0) -> None:
    """Change one bit of an array in a file."""
    content = bytearray(path.read_bytes())
    header, body = taken_apart(bytes(content))
    content[len(content) - len(body) + header[tensor]["data_offsets"][0] + at] ^= 4
    path.write_bytes(content)


def test_no_flipped_bit_goes_unnoticed(tmp_path: Path) -> None:
    path = tmp_path / "x"
    arrays: tensors.Tensors = {"a": np.arange(9, dtype=np.uint32), "b": np.ones((2, 3))}
    write_safetensors(path, arrays, {"malmoi": "1"})
    whole = path.read_bytes()
    told = 0
    for at in range(8, len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        try:
            found, metadata = read_safetensors(InputFile(path))
        except InvalidFileError:
            told += 1
            continue
        assert metadata == {"malmoi": "1"}, "only blanks around the header may differ"
        for name, array in arrays.items():
            np.testing.assert_array_equal(found[name], array)
    assert told > len(whole) - 20


def test_blocks_that_change_places_are_told(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_safetensors(path, {"a": np.arange(3 * BLOCK_BYTES, dtype=np.uint8)}, {})
    content = path.read_bytes()
    start = len(content) - 3 * BLOCK_BYTES
    one, two, rest = (content[start + i * BLOCK_BYTES :][:BLOCK_BYTES] for i in range(3))
    path.write_bytes(content[:start] + one + two + rest)
    read_safetensors(InputFile(path))
    changed = bytearray(content)
    changed[start : start + 8], changed[-8:] = content[-8:], content[start : start + 8]
    path.write_bytes(changed)
    with pytest.raises(InvalidFileError, match="the checksum of block 0 of its 3 is wrong"):
        read_safetensors(InputFile(path))


def test_checksums_do_not_depend_on_where_arrays_end() -> None:
    content = bytes(range(256)) * 600
    parts = [memoryview(content[:100_000]), memoryview(b""), memoryview(content[100_000:])]
    assert block_checksums(parts).tolist() == block_checksums([memoryview(content)]).tolist()
    assert len(block_checksums(parts)) == -(-len(content) // BLOCK_BYTES)


@pytest.mark.parametrize(
    "rows", [0, -1, 99, slice(3, 9), slice(9, 3), slice(0, 90, 7), [4, 99, 4], np.arange(5) > 2]
)
def test_the_bytes_of_rows_are_all_touched(rows: Any) -> None:
    count = 5 if isinstance(rows, np.ndarray) else 100
    spans = byte_spans(rows, count, 40_000)
    for row in np.atleast_1d(np.arange(count)[rows]).tolist():
        assert any(a <= row * 40_000 and (row + 1) * 40_000 <= b for a, b in spans)


@pytest.mark.parametrize("tensor", ["key_hashes", "key_rows", "key_bytes", "key_offsets"])
def test_a_listed_word_is_found_or_the_damage_is_told(
    tensor: str, words: Vectors, tmp_path: Path
) -> None:
    path = tmp_path / "words.malmoi"
    save(words, path)
    flip(path, tensor)
    with pytest.raises(
        InvalidFileError, match=r"words\.malmoi is damaged: the checksum of block 0"
    ):
        load(path)


def test_a_large_file_is_verified_where_it_is_used(many: Path) -> None:
    flip(many, "matrix", 4 * DIM * 3000)
    vectors = load(many)
    assert vectors.vector("word3").shape == (DIM,)
    assert len(vectors.take(slice(0, 100))) == 100
    for ask in (
        lambda: vectors.vector("word3000"),
        lambda: vectors.matrix,
        lambda: vectors.take(np.array([3000])),
    ):
        with pytest.raises(
            InvalidFileError, match=r"many\.malmoi is damaged: the checksum of block"
        ):
            ask()


@pytest.mark.parametrize("tensor", ["key_hashes", "key_rows", "key_bytes", "key_offsets"])
def test_damaged_keys_of_a_large_file_are_told_when_one_is_looked_up(
    tensor: str, many: Path
) -> None:
    flip(many, tensor, 3)
    vectors = load(many)
    for ask in (lambda: vectors.keys.find_all(["word3"]).tolist() + list(vectors.keys),
                lambda: [vectors.row(f"word{row}") for row in range(ROWS)]):  # fmt: skip
        with pytest.raises(InvalidFileError, match=r"many\.malmoi is damaged"):
            ask()


def test_look_ups_find_the_same_before_and_after_all_was_verified(many: Path) -> None:
    asked = ["word0", "word17", f"word{ROWS - 1}", "unseen", ""]
    one_by_one = [load(many).row(word) for word in asked]
    vectors = load(many)
    assert len(vectors) == ROWS
    assert one_by_one == vectors.keys.find_all(asked).tolist() == [0, 17, ROWS - 1, -1, -1]
    assert [vectors.row(word) for word in asked * 100] == one_by_one * 100
    assert vectors.keys.strings([1, 2]) == ["word1", "word2"]


@pytest.mark.parametrize("tensor", ["norms", "counts"])
def test_other_arrays_of_a_large_file_are_verified_too(tensor: str, many: Path) -> None:
    flip(many, tensor, 9)
    vectors = load(many)
    with pytest.raises(InvalidFileError, match="is damaged"):
        getattr(vectors, tensor)


def test_a_large_file_holds_what_a_small_one_does(
    subworded: SubwordVectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(subworded, tmp_path / "model.malmoi")
    small = load(tmp_path / "model.malmoi")
    monkeypatch.setattr(tensors, "VERIFY_LAZILY_ABOVE", 0)
    large = load(tmp_path / "model.malmoi")
    assert list(large.keys) == list(small.keys)
    assert large.meta == small.meta
    for name in ("matrix", "norms", "counts", "context_matrix", "word_rows", "bucket_rows", "dim"):
        np.testing.assert_array_equal(getattr(large, name), getattr(small, name))


def test_unseen_words_of_a_large_model_are_built_from_verified_rows(
    subworded: SubwordVectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensors, "VERIFY_LAZILY_ABOVE", 0)
    path = tmp_path / "model.malmoi"
    save(subworded, path)
    np.testing.assert_array_equal(load(path)["eaten"], subworded["eaten"])
    flip(path, "bucket_rows")
    with pytest.raises(InvalidFileError, match="is damaged"):
        load(path).vector("eaten")


def test_large_vectors_can_be_copied_and_sent(many: Path) -> None:
    used = load(many)
    assert used.keys.find_all(["word1"]).tolist() == [1]
    for twin in (
        copy.deepcopy(load(many)),
        pickle.loads(pickle.dumps(load(many))),
        pickle.loads(pickle.dumps(used)),
    ):
        assert list(twin.keys) == list(load(many).keys)
        np.testing.assert_array_equal(twin.matrix, load(many).matrix)


def test_files_without_checksums_are_read_and_inspect_says_so(
    words: Vectors, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "words.malmoi"
    save(words, path)
    assert run(["inspect", str(path)]) == 0
    assert "CRC-32, all 1 blocks verified" in capsys.readouterr().out
    path.write_bytes(without_checksums(path.read_bytes()))
    assert load(path).matrix.tobytes() == words.matrix.tobytes()
    assert run(["inspect", str(path)]) == 0
    assert "none: written by an earlier release" in capsys.readouterr().out


def test_checksums_that_were_made_again_are_believed(words: Vectors, tmp_path: Path) -> None:
    path = tmp_path / "words.malmoi"
    save(words, path)
    path.write_bytes(signed_again(path.read_bytes()))
    assert load(path).matrix.tobytes() == words.matrix.tobytes()


def test_inspect_verifies_files_that_hold_no_vectors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.corpus"
    write_safetensors(
        path, {"ids": np.arange(5, dtype=np.uint32)}, {"malmoi": "1", "kind": "corpus"}
    )
    assert run(["inspect", str(path)]) == 0
    assert "ids [5]" in capsys.readouterr().out
    flip(path, "ids")
    assert run(["inspect", str(path)]) == 1
    assert "the checksum of block 0 of its 1 is wrong" in capsys.readouterr().err


def test_threads_may_look_words_up_while_all_is_being_verified(many: Path) -> None:
    vectors = load(many)
    asked = [f"word{row}" for row in range(0, ROWS, 7)]

    def rows(_: int) -> list[int]:
        return [vectors.row(word) for word in asked]

    with ThreadPoolExecutor(4) as pool:
        assert all(found == list(range(0, ROWS, 7)) for found in pool.map(rows, range(4)))
