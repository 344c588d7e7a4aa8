"""Language models of all kinds, told by what their files hold."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from malmoi.errors import InvalidFileError
from malmoi.formats import save
from malmoi.keys import Keys
from malmoi.models.language_files import load_language_model
from malmoi.models.ngram_files import save_ngram
from malmoi.models.ngram_model import NgramModel
from malmoi.models.nnlm_model import NeuralModel, save_nnlm
from malmoi.train.language.ngram import NGram, train_ngram
from malmoi.vectors import Vectors
from tests.models.test_nnlm import made


@pytest.mark.parametrize("name", ["model", "model.arpa", "model.arpa.gz"])
def test_ngram_models_are_told_by_content(name: str, tmp_path: Path) -> None:
    model = train_ngram([["a", "b"]], NGram(smoothing="add-k"))
    save_ngram(model, tmp_path / name)
    (tmp_path / name).rename(tmp_path / "renamed")
    again = load_language_model(tmp_path / "renamed")
    assert isinstance(again, NgramModel)
    assert again.sample(3) == model.sample(3)


def test_neural_models_are_told_by_content(tmp_path: Path) -> None:
    save_nnlm(made(), tmp_path / "model.arpa")
    again = load_language_model(str(tmp_path / "model.arpa"))
    assert isinstance(again, NeuralModel)
    assert again.sample(3) == made().sample(3)


def test_an_arpa_file_may_begin_with_a_remark(tmp_path: Path) -> None:
    path = tmp_path / "model.arpa"
    save_ngram(train_ngram([["a", "b"]], NGram(smoothing="add-k")), path)
    path.write_bytes(b"made by hand\n" + path.read_bytes())
    assert isinstance(load_language_model(path), NgramModel)


def test_files_that_hold_no_language_model_are_refused(tmp_path: Path) -> None:
    text, vectors = tmp_path / "text.txt", tmp_path / "words.malmoi"
    text.write_text("I am Sam\n")
    save(Vectors(Keys.of(["a"]), np.ones((1, 2), dtype=np.float32)), vectors)
    for path in (text, vectors):
        with pytest.raises(
            InvalidFileError, match=rf"{path.name} is not a language model: give an ARPA"
        ):
            load_language_model(path)
    zipped = tmp_path / "model.gz"
    save_nnlm(made(), tmp_path / "model")
    zipped.write_bytes(gzip.compress((tmp_path / "model").read_bytes()))
    with pytest.raises(InvalidFileError, match="is gzipped: decompress it"):
        load_language_model(zipped)
    with pytest.raises(InvalidFileError, match="does not exist"):
        load_language_model(tmp_path / "missing")
