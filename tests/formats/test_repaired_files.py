"""Files with something wrong that can be read all the same; what was odd is counted and said."""

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from malmoi.errors import MalmoiWarning
from malmoi.formats import load, save
from malmoi.vectors import Vectors

Write = Callable[[bytes], Path]
ROWS = b"the 0.1 0.2\nof 0.3 0.4\n"


@pytest.fixture
def file(tmp_path: Path) -> Write:
    def write(content: bytes) -> Path:
        (tmp_path / "vectors.txt").write_bytes(content)
        return tmp_path / "vectors.txt"

    return write


def loaded(path: Path, **options: Any) -> tuple[Vectors, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        vectors = load(path, **options)
    assert all(issubclass(warning.category, MalmoiWarning) for warning in caught)
    messages = [str(warning.message) for warning in caught]
    assert all(str(path) in message and "\n" not in message for message in messages)
    return vectors, messages


@pytest.mark.parametrize(
    "content",
    [
        ROWS,
        ROWS.removesuffix(b"\n"),
        ROWS.replace(b"\n", b"\r\n"),
        ROWS.replace(b"\n", b" \n"),
        ROWS.replace(b"\n", b" \r\n"),
        b"\n" + ROWS + b"\n \n\r\n",
        ROWS.replace(b"\n", b"\n\n\n"),
        b"\xef\xbb\xbf" + ROWS,
        b"2 2\n" + ROWS,
        b"2 2\r\n" + ROWS.replace(b"\n", b"\r\n"),
        b"2 2 \n" + ROWS,
        b"2 2\n\n" + ROWS + b"\n",
        b"\xef\xbb\xbf2 2\n" + ROWS,
        ROWS.replace(b" ", b"\t"),
        b"2\t2\n" + ROWS.replace(b" ", b"\t"),
        ROWS.replace(b" 0.2", b" 2e-1").replace(b" 0.4", b" +.4"),
    ],
)
def test_every_way_to_write_lines_is_read(content: bytes, file: Write) -> None:
    vectors, said = loaded(file(content))
    assert list(vectors) == ["the", "of"]
    assert vectors.matrix.tolist() == np.array([[0.1, 0.2], [0.3, 0.4]], np.float32).tolist()
    assert not said


def test_bytes_that_are_not_utf8_are_kept_and_counted(file: Write, tmp_path: Path) -> None:
    content = b"caf\xe9 0.5 0.25\nthe 1 2\n\xed\xa0\x80 3 4\n"
    vectors, said = loaded(file(content))
    assert list(vectors) == ["caf\udce9", "the", "\udced\udca0\udc80"]
    assert len(said) == 1
    assert "not UTF-8" in said[0]
    assert "2" in said[0].removeprefix(str(file(content)))
    for suffix in (".txt", ".vec", ".bin", ".tsv", ".npy", ".malmoi"):
        path = tmp_path / f"again{suffix}"
        save(vectors, path)
        again, _ = loaded(path)
        assert again.keys == vectors.keys
        if suffix == ".txt":
            assert path.read_bytes() == content


def test_a_letter_cut_between_two_keys_is_noticed(file: Write) -> None:
    _, said = loaded(file(b"a\xed 1 2\n\x95\x9c 3 4\n"))
    assert "not UTF-8" in said[0]


@pytest.mark.parametrize("encoding", ["cp949", "euc-kr", "latin-1"])
def test_words_in_another_encoding_are_read(encoding: str, file: Write) -> None:
    words = ["the", "café"] if encoding == "latin-1" else ["the", "한국"]
    content = b"".join(word.encode(encoding) + b" 0.5 0.25\n" for word in words)
    vectors, said = loaded(file(content), encoding=encoding)
    assert list(vectors) == words
    assert not said
    assert list(load(file(content), encoding=encoding, only=[words[1], "😀"])) == words[1:]


@pytest.mark.parametrize(
    ("content", "left_out"),
    [
        (ROWS + b"and 0.5\n", 1),
        (b"and 0.512 0.612 0.712\n" + ROWS + b"or x y\n", 2),
        (ROWS + b"and nan 0.5\n", 1),
        (b"3 2\n" + ROWS + b"and 0.5 inf\n", 1),
        (b"4 2\n" + ROWS + b"and 0.5 inf\nor 0.5\n", 2),
    ],
)
def test_rows_that_do_not_fit_can_be_left_out(content: bytes, left_out: int, file: Write) -> None:
    vectors, said = loaded(file(content), strict=False)
    assert list(vectors) == ["the", "of"]
    counted = [re.search(r"skipped: (\d+), the first at .*:(\d+)", note) for note in said]
    assert sum(int(found[1]) for found in counted if found) == left_out
    assert None not in counted


@pytest.mark.parametrize("rows", [1, 3, 10**12])
def test_a_false_number_of_rows_can_be_overlooked(rows: int, file: Write) -> None:
    vectors, said = loaded(file(b"%d 2\n" % rows + ROWS), strict=False)
    assert list(vectors) == ["the", "of"]
    assert len(said) == 1
    assert f"announces {rows:,} rows" in said[0]


def test_a_false_dim_can_be_overlooked_but_is_said(file: Write) -> None:
    vectors, said = loaded(file(b"2 3\n" + ROWS), strict=False)
    assert vectors.dim == 2
    assert len(said) == 1


def test_whole_rows_of_a_cut_binary_can_be_taken(words: Vectors, tmp_path: Path) -> None:
    path = tmp_path / "words.bin"
    save(words, path)
    whole = path.read_bytes()
    ends = [whole.index(row.tobytes()) + 20 for row in words.matrix]
    for cut in range(10, len(whole) - 1, 5):
        path.write_bytes(whole[:cut])
        vectors, said = loaded(path, strict=False)
        assert list(vectors) == list(words)[: sum(end <= cut for end in ends)]
        assert len(said) == 1


def test_rows_that_are_not_finite_can_be_left_out(words: Vectors, tmp_path: Path) -> None:
    path = tmp_path / "words.npy"
    words.matrix[[1, 3]] = np.nan
    np.save(path, words.matrix)
    (tmp_path / "words.vocab.txt").write_text("\n".join(words))
    vectors, said = loaded(path, strict=False)
    assert list(vectors) == [word for row, word in enumerate(words) if row not in (1, 3)]
    assert "2" in said[0].removeprefix(str(path))


@pytest.mark.parametrize("dtype", ["<f8", ">f4", "<f2", "<i4"])
def test_arrays_of_other_numbers_become_float32(dtype: str, tmp_path: Path) -> None:
    numbers = np.arange(6).reshape(3, 2).astype(dtype)
    np.save(tmp_path / "words.npy", np.asfortranarray(numbers))
    (tmp_path / "words.txt").write_bytes(b"a\r\nb\r\nc")
    vectors, said = loaded(tmp_path / "words.npy")
    assert list(vectors) == ["a", "b", "c"]
    assert vectors.matrix.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert not said
