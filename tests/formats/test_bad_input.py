"""Damaged files: each is refused in one sentence that names the file and, in text, the line."""

import gzip
import struct
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from malmoi.errors import InvalidFileError, MalmoiWarning
from malmoi.formats import load, save
from malmoi.keys import Keys
from malmoi.subwords import SubwordVectors
from malmoi.vectors import Vectors

Write = Callable[[bytes], Path]
MEGABYTE = 1 << 20


@pytest.fixture
def file(tmp_path: Path) -> Write:
    def write(content: bytes) -> Path:
        path = tmp_path / "vectors"
        path.write_bytes(content)
        return path

    return write


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(InvalidFileError) as caught:
        load(path, **options)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def test_word2vec_binary_cut_anywhere_is_refused(
    words: Vectors, tmp_path: Path, file: Write
) -> None:
    save(words, tmp_path / "whole.bin")
    whole = (tmp_path / "whole.bin").read_bytes()
    for cut in range(1, len(whole) - 1):  # the last byte is a newline, which may be missing
        refusal(file(whole[:cut]))


def test_fasttext_model_cut_anywhere_is_refused(
    subworded: SubwordVectors, tmp_path: Path, file: Write
) -> None:
    save(subworded, tmp_path / "whole.bin")
    whole = (tmp_path / "whole.bin").read_bytes()
    output = len(whole) - 17 - 5 * 5 * 4  # a model may end before it: there is no more to read
    for cut in [*range(1, 250), *range(250, len(whole), 7), len(whole) - 1]:
        if cut != output:
            refusal(file(whole[:cut]))


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"the 0.1 0.2\nof 0.3\nand 0.5 0.6\n", 2),
        (b"the 0.1 0.2\nof 0.3 0.4\nand 0.512 0.612 0.712\n", 3),
        (b"the 0.1 0.2\nof 0.3 x\nand 0.5 0.6\n", 2),
        (b"the 0.1 0.2\n\n\nof 0.3 nan\nand 0.5 0.6\n", 4),
        (b"the 0.1 0.2\nof 0.3 -inf\nand 0.5 0.6\n", 2),
        (b"the 0.1 0.2\nof 0.3 1e39\nand 0.5 0.6\n", 2),
        (b"3 2\nthe 0.1 0.2\nof 0.3 0.4\nand 0.5\n", 4),
        (b"3 2\nthe 0.1 0.2\nof 0.3 0.4\n", 1),
        (b"1 2\nthe 0.1 0.2\nof 0.3 0.4\n", 1),
        (b"2 3\nthe 0.1 0.2\nof 0.3 0.4\n", 1),
        (b"1000000000000 2\nthe 0.1 0.2\n", 1),
        (b"2 1000000000000\nthe 0.1 0.2\n", 1),
        (b"3 2\n", 1),
        (b"3 2", 1),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_text_that_makes_no_sense_is_refused_with_its_line(
    content: bytes, line: int, pack: Callable[[bytes], bytes], file: Write
) -> None:
    path = file(pack(content))
    assert f"{path}:{line}:" in refusal(path)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("suffix", [".npy", ".parquet", ".bin"])
def test_what_is_not_finite_is_refused_when_read(
    suffix: str, value: float, words: Vectors, tmp_path: Path
) -> None:
    path = tmp_path / f"whole{suffix}"
    words.matrix[3, 2] = 12345.678
    save(words, path)
    marked = np.float32(12345.678).tobytes()
    path.write_bytes(path.read_bytes().replace(marked, np.float32(value).tobytes()))
    assert "한국" in refusal(path)


@pytest.mark.parametrize("rows", [8, 6, 10**6, 10**12, 10**18 - 1])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_binary_with_a_false_number_of_rows_is_refused(
    rows: int, pack: Callable[[bytes], bytes], words: Vectors, tmp_path: Path, file: Write
) -> None:
    save(words, tmp_path / "whole.bin")
    body = (tmp_path / "whole.bin").read_bytes().removeprefix(b"7 5\n")
    refusal(file(pack(b"%d 5\n" % rows + body)))


@pytest.mark.parametrize("dim", [4, 6, 10**6, 10**12, 10**18 - 1])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_binary_of_another_dim_is_refused(
    dim: int, pack: Callable[[bytes], bytes], words: Vectors, tmp_path: Path, file: Write
) -> None:
    save(words, tmp_path / "whole.bin")
    body = (tmp_path / "whole.bin").read_bytes().removeprefix(b"7 5\n")
    refusal(file(pack(b"7 %d\n" % dim + body)))


def fasttext_header(dim: int, entries: int, bucket: int, pruned: int = -1) -> bytes:
    settings = (dim, 5, 5, 1, 5, 1, 2, 2, bucket, 3, 6, 100)
    return struct.pack("<14id3i2q", 793712314, 12, *settings, 1e-4, entries, entries, 0, 9, pruned)


HUGE = 10**12
BOMBS = {
    "text header, rows": b"%d 300\nthe 0.1 0.2\n" % HUGE,
    "text header, dim": b"2 %d\nthe 0.1 0.2\n" % HUGE,
    "text header alone": b"%d %d\n" % (HUGE, HUGE),
    "binary header, rows": b"%d 2\n" % HUGE + b"the \0\0\0\0\1\1\1\1" * 50,
    "binary header, dim": b"50 %d\n" % HUGE + b"the \0\0\0\0\1\1\1\1" * 50,
    "one row and many blank lines": b"the" + b" 0.5" * 500 + b"\n" * 300_000,
    "one row and many short ones": b"the" + b" 0.5" * 500 + b"\na 1" * 100_000,
    "fasttext words": fasttext_header(5, 2**31 - 1, 10) + bytes(99),
    "fasttext pruned": fasttext_header(5, 0, 10, 2**60) + bytes(99),
    "fasttext rows": fasttext_header(5, 0, 10) + struct.pack("<?2q", False, HUGE, 5),
    "fasttext overflow": fasttext_header(5, 0, 10) + struct.pack("<?2q", False, 2**62, 4),
    "fasttext negative": fasttext_header(5, 0, 10) + struct.pack("<?2q", False, -2, -4) + bytes(99),
    "quantised, no rows": fasttext_header(4, 0, 0)
    + struct.pack("<??2qi4i", True, False, 0, 4, 0, 4, 1, 4, 4)
    + bytes(5000),
    "quantised, no codes": fasttext_header(4, 0, 0)
    + struct.pack("<??2qi4i", True, False, HUGE, 4, 0, 4, 0, 1, 5)
    + bytes(5000),
    "numpy shape": b"\x93NUMPY\1\0\x76\0"
    + b"{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 300), }".ljust(118) % HUGE,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::malmoi.errors.MalmoiWarning")
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("bomb", sorted(BOMBS))
def test_a_small_file_never_asks_for_much_memory_or_time(
    bomb: str, strict: bool, pack: Callable[[bytes], bytes], file: Write
) -> None:
    load_quietly(file(b"the 0.1 0.2\n"), strict)  # what is compiled once does not count
    path = file(pack(BOMBS[bomb]))
    tracemalloc.start()
    begin = time.process_time()
    try:
        load_quietly(path, strict)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.process_time() - begin < 20
    assert peak < 100 * MEGABYTE


def load_quietly(path: Path, strict: bool) -> None:
    message = str(path)
    try:
        load(path, strict=strict)
    except InvalidFileError as error:
        message = str(error)
    assert str(path) in message


def test_a_giant_line_is_refused(file: Write) -> None:
    refusal(file(b"x" * (20 * MEGABYTE)))
    path = file(b"the 0.1 0.2\n" * 300 + b"x" * (20 * MEGABYTE))
    assert f"{path}:301:" in refusal(path)


def test_keys_that_come_again_are_counted_and_the_first_is_kept(tmp_path: Path) -> None:
    twice = Vectors(Keys.of(["a", "b", "a", "a"]), np.arange(12).reshape(4, 3))
    for suffix in (".txt", ".vec", ".bin", ".npy", ".parquet", ".tsv"):
        save(twice, tmp_path / f"twice{suffix}")
        with pytest.warns(MalmoiWarning, match="repeated keys.* 2, such as 'a'"):
            found = load(tmp_path / f"twice{suffix}")
        assert list(found) == ["a", "b"]
        assert found.matrix.tolist() == [[0, 1, 2], [3, 4, 5]]
