"""N-gram models in files: ARPA by name, our own otherwise; whole or not there."""

import gzip
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.tampering import signed_again
from malmoi.errors import InvalidArgumentError, InvalidFileError, MalmoiWarning
from malmoi.files.source import InputFile
from malmoi.files.tensors import read_safetensors, write_safetensors
from malmoi.models.ngram_files import load_ngram, save_ngram
from malmoi.models.ngram_model import NgramModel
from malmoi.train.language.ngram import NGram, Smoothing, train_ngram

SAM = [line.split() for line in ("I am Sam", "Sam I am", "I do not like green eggs and ham")]


def trained(smoothing: Smoothing = "kneser-ney") -> NgramModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MalmoiWarning)
        return train_ngram(SAM, NGram(smoothing=smoothing))


@pytest.mark.parametrize("name", ["sam.arpa", "sam.arpa.gz", "sam.ngram"])
@pytest.mark.parametrize("smoothing", ["none", "add-k", "interpolated", "kneser-ney"])
def test_models_come_back_from_files(name: str, smoothing: Smoothing, tmp_path: Path) -> None:
    model = trained(smoothing)
    save_ngram(model, tmp_path / name)
    again = load_ngram(str(tmp_path / name))
    assert again.trie.words == model.trie.words
    assert again.perplexity(SAM) == pytest.approx(model.perplexity(SAM))
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("smoothing", ["none", "add-k", "kneser-ney"])
def test_our_own_file_changes_no_bit(smoothing: Smoothing, tmp_path: Path) -> None:
    model = trained(smoothing)
    save_ngram(model, tmp_path / "sam.ngram")
    again = load_ngram(tmp_path / "sam.ngram")
    assert again.unseen == model.unseen
    for ours, theirs in zip(
        (*model.trie.packed, *model.probabilities, *model.backoffs),
        (*again.trie.packed, *again.probabilities, *again.backoffs),
        strict=True,
    ):
        assert np.array_equal(ours, theirs)


def test_a_model_that_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.arpa"
    path.write_text("as it was")
    with pytest.raises(InvalidArgumentError, match="'New York' cannot be in an ARPA file"):
        save_ngram(train_ngram([["New York"]], NGram(smoothing="none")), path)
    assert path.read_text() == "as it was"
    assert [*tmp_path.iterdir()] == [path]
    with pytest.raises(InvalidFileError, match="there is no folder"):
        save_ngram(trained(), tmp_path / "nowhere" / "x.ngram")


def test_files_that_hold_no_model_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.ngram"
    with pytest.raises(InvalidFileError, match="does not exist"):
        load_ngram(path)
    path.write_text("the\n0.1 0.2\n")
    with pytest.raises(InvalidFileError, match="this is not an ARPA file"):
        load_ngram(path)
    save_ngram(trained(), path)
    whole = path.read_bytes()
    for damaged in (whole[:-9], whole[:100], whole.replace(b"ngrams_2", b"ngrams_7")):
        path.write_bytes(damaged)
        with pytest.raises(InvalidFileError, match="is damaged"):
            load_ngram(path)
    path.write_bytes(signed_again(whole.replace(b'"malmoi":"1"', b'"malmoi":"9"')))
    with pytest.raises(InvalidFileError, match="is of version 9; this malmoi reads 1"):
        load_ngram(path)
    path.write_bytes(gzip.compress(whole))
    with pytest.raises(InvalidFileError, match="is gzipped: decompress it"):
        load_ngram(path)


@pytest.mark.parametrize(
    ("tensor", "change"),
    [
        ("ngrams_2", lambda array: array[::-1].copy()),
        ("ngrams_2", lambda array: array | np.uint64(1 << 30)),
        ("ngrams_3", lambda array: array + np.uint64(1 << 60)),
        ("ngrams_2", lambda array: array.astype(np.int64)),
        ("probabilities_1", lambda array: array * np.nan),
        ("probabilities_2", lambda array: array + 2),
        ("probabilities_2", lambda array: array[:-1]),
        ("backoffs_1", lambda array: -array - 1),
    ],
)
def test_models_that_make_no_sense_are_refused(
    tensor: str, change: Callable[[Any], Any], tmp_path: Path
) -> None:
    path = tmp_path / "x.ngram"
    save_ngram(trained(), path)
    arrays, metadata = read_safetensors(InputFile(path))
    write_safetensors(path, arrays | {tensor: change(arrays[tensor])}, metadata)
    with pytest.raises(InvalidFileError, match=r"x\.ngram is damaged"):
        load_ngram(path)


@pytest.mark.parametrize("entry", [{"order": "0"}, {"order": "99"}, {"unseen": "nan"}])
def test_metadata_that_make_no_sense_are_refused(entry: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "x.ngram"
    save_ngram(trained(), path)
    arrays, metadata = read_safetensors(InputFile(path))
    write_safetensors(path, arrays, metadata | entry)
    with pytest.raises(InvalidFileError, match=r"x\.ngram is damaged"):
        load_ngram(path)
