"""Tensor files of a kind: others are refused, and those of earlier releases are read."""

from pathlib import Path

import numpy as np
import pytest

from bench.tampering import joined, taken_apart
from malmoi.errors import InvalidFileError
from malmoi.files.source import InputFile
from malmoi.files.tensor_file import FileKind, read_tensor_file, write_tensor_file
from malmoi.formats import load, save
from malmoi.models.cooccurrences import is_cooccurrences, load_cooccurrences, save_cooccurrences
from malmoi.text.corpus import Corpus
from malmoi.text.encoded import encode_corpus, open_encoded
from malmoi.train.counts.cooccurrence import count_cooccurrences
from malmoi.vectors import Vectors

KIND = FileKind("lamps", "a file of lamps", "2", former=(("lamp", "1"),))


def as_before(path: Path, **metadata: str) -> None:
    """What a file looked like when it had no checksums, and said what it is in another way."""
    header, body = taken_apart(path.read_bytes())
    rest = {name: text for name, text in header["__metadata__"].items()
            if name not in ("crc32", "crc32_blocks", "kind", "malmoi")}  # fmt: skip
    path.write_bytes(joined(header | {"__metadata__": rest | metadata}, body))


def test_a_file_comes_back_with_its_metadata(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_tensor_file(path, KIND, {"a": np.arange(3), "none": None}, {"colour": "red"})
    tensors, metadata = read_tensor_file(InputFile(path), KIND)
    assert metadata == {"malmoi": "2", "kind": "lamps", "colour": "red"}
    assert {name: array.tolist() for name, array in tensors.items()} == {"a": [0, 1, 2]}


def test_files_of_another_kind_or_version_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_tensor_file(path, FileKind("cups", "a file of cups"), {})
    with pytest.raises(InvalidFileError, match="x is not a file of lamps but of the kind 'cups'"):
        read_tensor_file(InputFile(path), KIND)
    write_tensor_file(path, FileKind("lamps", "a file of lamps", "3"), {})
    with pytest.raises(InvalidFileError, match="x is of version 3; this malmoi reads 2"):
        read_tensor_file(InputFile(path), KIND)
    path.write_bytes(joined({}, b""))
    with pytest.raises(InvalidFileError, match="x is not a file of lamps but of an unknown kind"):
        read_tensor_file(InputFile(path), KIND)


def test_metadata_of_earlier_releases_are_known(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_tensor_file(path, KIND, {"a": np.arange(3)})
    as_before(path, lamp="1")
    assert read_tensor_file(InputFile(path), KIND)[0]["a"].tolist() == [0, 1, 2]


def test_files_of_earlier_releases_are_read(words: Vectors, tmp_path: Path) -> None:
    save(words, tmp_path / "words.malmoi")
    as_before(tmp_path / "words.malmoi", malmoi="1")
    assert list(load(tmp_path / "words.malmoi")) == list(words)
    ids = encode_corpus(Corpus.of(["a b a", "b c"]), folder=tmp_path).ids.tolist()
    (kept,) = tmp_path.glob("*.corpus")
    as_before(kept, corpus="1")
    corpus = open_encoded(kept)
    assert corpus.ids.tolist() == ids
    counts, path = count_cooccurrences(corpus), tmp_path / "counts"
    save_cooccurrences(counts, path)
    as_before(path, **{"malmoi-cooccurrences": "1"})
    assert is_cooccurrences(path)
    assert load_cooccurrences(path).dense().tolist() == counts.dense().tolist()
