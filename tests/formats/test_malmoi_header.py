"""Our own file with a header that lies: refused when it is opened, not when it is used."""

import json
import struct
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.tampering import taken_apart, without_checksums
from malmoi.errors import InvalidFileError
from malmoi.formats import load, save
from malmoi.keys import Keys
from malmoi.subwords import SubwordVectors
from malmoi.vectors import Vectors

Header = dict[str, Any]
HUGE = 10**30


@pytest.fixture
def path(words: Vectors, tmp_path: Path) -> Path:
    save(words, tmp_path / "words.malmoi")
    return tmp_path / "words.malmoi"


def parts(path: Path) -> tuple[Header, bytes]:
    """The header without its checksums, as earlier releases wrote it, and the rest."""
    return taken_apart(without_checksums(path.read_bytes()))


def rewrite(path: Path, header: Header | bytes, body: bytes) -> None:
    encoded = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + body)


def assert_refused(path: Path) -> None:
    for options in ({}, {"limit": 2}, {"only": ["king", "한국"]}):
        with pytest.raises(InvalidFileError) as caught:
            load(path, **options)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_header_written_again_changes_nothing(path: Path, words: Vectors) -> None:
    rewrite(path, *parts(path))
    assert load(path).matrix.tobytes() == words.matrix.tobytes()


@pytest.mark.parametrize("tensor", ["matrix", "norms", "key_bytes", "key_offsets", "key_hashes"])
@pytest.mark.parametrize(
    "change",
    [
        {"shape": [0, HUGE]},
        {"shape": [HUGE]},
        {"shape": [float("inf")]},
        {"shape": [-1, -35]},
        {"shape": []},
        {"shape": "many"},
        {"shape": [1.5]},
        {"dtype": "F16"},
        {"dtype": ["F32"]},
        {"data_offsets": [0, HUGE]},
        {"data_offsets": [-4, 0]},
        {"data_offsets": ["a", "b"]},
        {"data_offsets": [0.0, 4.0]},
        {"data_offsets": [4]},
    ],
)
def test_false_sizes_are_refused(tensor: str, change: dict[str, Any], path: Path) -> None:
    header, body = parts(path)
    header[tensor] |= change
    rewrite(path, header, body)
    assert_refused(path)


@pytest.mark.parametrize(
    ("tensor", "dtype", "size"),
    [
        ("matrix", "U32", 1),
        ("norms", "I32", 1),
        ("key_offsets", "U64", 1),
        ("key_offsets", "F32", 2),
        ("key_hashes", "I64", 1),
        ("key_hashes", "F32", 2),
        ("key_rows", "I32", 1),
        ("key_rows", "F32", 1),
    ],
)
def test_numbers_of_another_kind_are_refused(
    tensor: str, dtype: str, size: int, path: Path
) -> None:
    header, body = parts(path)
    shape = header[tensor]["shape"]
    header[tensor] |= {"dtype": dtype, "shape": [*shape[:-1], shape[-1] * size]}
    rewrite(path, header, body)
    assert_refused(path)


@pytest.mark.parametrize(
    "tensor", ["matrix", "norms", "key_bytes", "key_offsets", "key_hashes", "key_rows", "counts"]
)
def test_tensors_of_another_dimension_are_refused(tensor: str, path: Path) -> None:
    header, body = parts(path)
    header[tensor]["shape"].append(1)
    rewrite(path, header, body)
    assert_refused(path)


@pytest.mark.parametrize("tensor", ["matrix", "norms", "key_bytes", "key_offsets", "key_rows"])
def test_a_missing_tensor_is_refused(tensor: str, path: Path) -> None:
    header, body = parts(path)
    del header[tensor]
    rewrite(path, header, body)
    assert_refused(path)


@pytest.mark.parametrize("value", [-1, 2, 10**9, -(2**62), 2**62])
def test_keys_whose_offsets_go_astray_are_refused_at_once(value: int, path: Path) -> None:
    header, body = parts(path)
    begin = header["key_offsets"]["data_offsets"][0] + 2 * 8
    rewrite(path, header, body[:begin] + struct.pack("<q", value) + body[begin + 8 :])
    before = time.process_time()
    assert_refused(path)
    assert time.process_time() - before < 20


@pytest.mark.parametrize(
    "metadata",
    [
        {"malmoi": "2"},
        {"malmoi": 1},
        {"malmoi": "1", "meta": "[]"},
        {"malmoi": "1", "meta": "{"},
        {"malmoi": "1", "meta": 5},
        {"malmoi": "1", "subwords": "{}"},
        {"malmoi": "1", "subwords": "[]"},
        {"malmoi": "1", "subwords": '{"shortest": "a"}'},
        {"malmoi": "1", "subwords": '{"encoding": "no-such"}'},
        ["malmoi"],
        "malmoi",
    ],
)
def test_metadata_that_make_no_sense_are_refused(metadata: Any, path: Path) -> None:
    header, body = parts(path)
    rewrite(path, header | {"__metadata__": metadata}, body)
    assert_refused(path)


@pytest.mark.parametrize("tensor", ["word_rows", "bucket_rows"])
def test_a_model_without_its_rows_is_refused(
    tensor: str, subworded: SubwordVectors, tmp_path: Path
) -> None:
    path = tmp_path / "model.malmoi"
    save(subworded, path)
    header, body = parts(path)
    del header[tensor]
    rewrite(path, header, body)
    assert_refused(path)


def test_a_file_with_the_names_of_before_is_read(subworded: SubwordVectors, tmp_path: Path) -> None:
    path = tmp_path / "model.malmoi"
    save(subworded, path)
    header, body = parts(path)
    former = {"context_matrix": "output", "word_rows": "own", "bucket_rows": "ngrams"}
    header = {former.get(name, name): value for name, value in header.items()}
    settings = json.loads(header["__metadata__"]["subwords"])
    settings["shortest"], settings["longest"] = settings.pop("min_n"), settings.pop("max_n")
    settings["units"] = "letters"
    metadata = {"malmoi": "1", "subwords": json.dumps(settings)}
    rewrite(path, header | {"__metadata__": metadata}, body)
    vectors = load(path)
    assert isinstance(vectors, SubwordVectors)
    assert vectors.subwords == subworded.subwords
    np.testing.assert_array_equal(vectors.word_rows, subworded.word_rows)
    np.testing.assert_array_equal(vectors.bucket_rows, subworded.bucket_rows)
    assert vectors.context_matrix is not None


def test_a_header_without_end_is_refused(path: Path) -> None:
    rewrite(path, b'{"__metadata__":{"malmoi":"1"},"a":' + b"[" * 200_000, b"")
    assert_refused(path)
    path.write_bytes(struct.pack("<Q", 2**63) + path.read_bytes()[8:])
    assert_refused(path)


def test_a_file_of_no_words_is_read(tmp_path: Path) -> None:
    save(Vectors(Keys.of([]), np.empty((0, 3))), tmp_path / "nothing.malmoi")
    assert len(load(tmp_path / "nothing.malmoi", limit=2)) == 0


def test_a_header_as_long_as_a_pickle_begins_is_no_pickle(tmp_path: Path) -> None:
    """A length of 640 bytes is 80 02 in the file, which is how pickles begin too."""
    path, seen = tmp_path / "x.malmoi", set()
    for size in range(0, 512, 4):
        save(Vectors(["a"], np.ones((1, 2)), meta={"note": "x" * size}), path)
        seen.add(path.read_bytes()[:2])
        assert load(path)["a"].tolist() == [1, 1]
    assert b"\x80\x02" in seen
