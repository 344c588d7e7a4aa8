"""Files that are no vectors, or not to be opened: each is refused with the reason."""

import bz2
import collections
import gzip
import lzma
import os
import pickle
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.formats import load, save
from malmoi.subwords import SubwordVectors
from malmoi.vectors import Vectors

PICKLED: dict[str, Any] = {
    "dictionary of arrays": {"the": np.ones(2, np.float32), "of": np.zeros(2, np.float32)},
    "dictionary of lists": {"the": [0.5, 0.25]},
    "list": ["the", "of"],
    "tuple": (["the", "of"], [[0.5], [0.25]]),
    "array": np.ones((2, 2), np.float32),
    "object": collections.Counter({"the": 2}),
    "path": Path("the"),
}


def refusal(path: Path) -> str:
    with pytest.raises(InvalidFileError) as caught:
        load(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("kind", sorted(PICKLED))
@pytest.mark.parametrize("zipped", [False, True])
def test_pickles_are_refused_with_why(
    kind: str, protocol: int, zipped: bool, tmp_path: Path
) -> None:
    content = pickle.dumps(PICKLED[kind], protocol)
    (tmp_path / "model.kv").write_bytes(gzip.compress(content) if zipped else content)
    message = refusal(tmp_path / "model.kv")
    assert "pickle" in message
    assert "gensim" in message


def test_pickles_in_arrays_are_not_opened(tmp_path: Path) -> None:
    np.save(tmp_path / "model.npy", np.array([{"the": 1}]), allow_pickle=True)
    (tmp_path / "model.vocab.txt").write_text("the\n")
    assert "objects" in refusal(tmp_path / "model.npy")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (bz2.compress(b"the 0.1 0.2\n"), "bzip2"),
        (lzma.compress(b"the 0.1 0.2\n"), "xz"),
        (b"\x89HDF\r\n\x1a\n" + bytes(100), "HDF5"),
    ],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_other_containers_are_refused_with_why(
    content: bytes, reason: str, zipped: bool, tmp_path: Path
) -> None:
    (tmp_path / "vectors").write_bytes(gzip.compress(content) if zipped else content)
    assert reason in refusal(tmp_path / "vectors")


def test_zip_archives_are_refused_with_why(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "glove.zip", "w") as archive:
        archive.writestr("glove.txt", "the 0.1 0.2\n")
    assert "extract it" in refusal(tmp_path / "glove.zip")
    np.savez(tmp_path / "arrays.npz", matrix=np.ones((2, 2)))
    assert "zip" in refusal(tmp_path / "arrays.npz")


def test_empty_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "nothing.txt").touch()
    assert "empty" in refusal(tmp_path / "nothing.txt")
    (tmp_path / "nothing.gz").write_bytes(gzip.compress(b""))
    refusal(tmp_path / "nothing.gz")
    (tmp_path / "blank.txt").write_bytes(b"\n\n \n")
    refusal(tmp_path / "blank.txt")


def test_folders_and_missing_files_are_refused(tmp_path: Path) -> None:
    assert "folder" in refusal(tmp_path)
    assert "does not exist" in refusal(tmp_path / "no-such-file.txt")
    assert "does not exist" in refusal(tmp_path / "no-such-folder" / "file.txt")
    (tmp_path / "file").write_bytes(b"the 0.1 0.2\n")
    refusal(tmp_path / "file" / "file.txt")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read_are_refused(words: Vectors, tmp_path: Path) -> None:
    save(words, tmp_path / "secret.npy")
    for path in tmp_path.iterdir():
        path.chmod(0)
        refusal(tmp_path / "secret.npy")
        path.chmod(0o600)


@pytest.mark.parametrize("name", ["words.npy", "words.tsv"])
def test_words_that_cannot_be_read_are_refused(
    name: str, words: Vectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(words, tmp_path / name)

    def forbidden(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", forbidden)
    with pytest.raises(InvalidFileError, match="Permission denied"):
        load(tmp_path / name)


@pytest.mark.parametrize(
    "content", [b"hello world\n", b"\0" * 100, b"%PDF-1.7\n", b"{}", b"[1, 2]\n"]
)
def test_what_is_in_no_known_format_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "notes").write_bytes(content)
    assert "none of the supported formats" in refusal(tmp_path / "notes")


@pytest.mark.parametrize("cut", [3, 11, 40, -9, -1])
def test_gzip_that_is_cut_is_refused(cut: int, words: Vectors, tmp_path: Path) -> None:
    save(words, tmp_path / "words.vec.gz")
    whole = (tmp_path / "words.vec.gz").read_bytes()
    (tmp_path / "words.vec.gz").write_bytes(whole[:cut])
    assert "gzip" in refusal(tmp_path / "words.vec.gz")


@pytest.mark.parametrize("name", ["words.vec.gz", "words.bin.gz", "words.txt.gz"])
def test_gzip_that_is_damaged_is_refused(name: str, words: Vectors, tmp_path: Path) -> None:
    save(words, tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    for place in range(20, len(whole), 13):  # 10 bytes are the header, some of which nobody checks
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        (tmp_path / name).write_bytes(damaged)
        assert "gzip" in refusal(tmp_path / name)


@pytest.mark.parametrize("cut", [20, 2000, -5, -1])
def test_zstd_that_is_cut_is_refused(cut: int, tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    rows = b"".join(b"word%d 0.5 %d\n" % (row, row) for row in range(20_000))
    packed = zstandard.compress(rows)
    path = tmp_path / "words.txt.zst"
    path.write_bytes(packed)
    assert len(load(path)) == 20_000
    path.write_bytes(packed[:cut])
    for strict in (True, False):
        with pytest.raises(InvalidFileError, match="zstd"):
            load(path, strict=strict)


def test_a_path_that_cannot_be_is_refused(words: Vectors) -> None:
    with pytest.raises(InvalidFileError):
        load("a\0b.txt")
    with pytest.raises(InvalidFileError):
        save(words, "a\0b.vec")


@pytest.mark.parametrize("suffix", [".malmoi", ".npy", ".parquet"])
def test_zipped_files_that_are_opened_in_place_are_refused_with_why(
    suffix: str, words: Vectors, tmp_path: Path
) -> None:
    save(words, tmp_path / f"words{suffix}")
    zipped = tmp_path / f"words{suffix}.gz"
    zipped.write_bytes(gzip.compress((tmp_path / f"words{suffix}").read_bytes()))
    assert "decompress" in refusal(zipped)


@pytest.mark.parametrize("options", [{"limit": -1}, {"encoding": "no-such"}, {"only": "king"}])
def test_settings_that_make_no_sense_are_refused(
    options: dict[str, Any], words: Vectors, tmp_path: Path
) -> None:
    for name in ("words.vec", "words.bin", "words.malmoi"):
        save(words, tmp_path / name)
        with pytest.raises(InvalidArgumentError):
            load(tmp_path / name, **options)


def test_a_fasttext_matrix_without_rows_but_endless_ones_is_refused(
    subworded: SubwordVectors, tmp_path: Path
) -> None:
    path = tmp_path / "model.bin"
    save(subworded, path)
    assert subworded.context_matrix is not None
    start = path.stat().st_size - subworded.context_matrix.nbytes - 16
    path.write_bytes(path.read_bytes()[:start] + struct.pack("<2q", 0, 2**62))
    assert "has a matrix of 0 × 4611686018427387904: it is damaged" in refusal(path)


def test_zipped_words_that_are_damaged_are_refused(words: Vectors, tmp_path: Path) -> None:
    save(words, tmp_path / "x.npy")
    packed = gzip.compress((tmp_path / "x.vocab.txt").read_bytes())
    (tmp_path / "x.vocab.txt").write_bytes(packed[:-9])
    with pytest.raises(
        InvalidFileError, match=r"x\.vocab\.txt is a damaged or truncated gzip file"
    ):
        load(tmp_path / "x.npy")
