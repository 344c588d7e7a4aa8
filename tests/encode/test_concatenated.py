from pathlib import Path

import numpy as np
import pytest

import malmoi as mm
from malmoi.cli import run
from malmoi.encode.bulk.embed import embed
from malmoi.errors import InvalidArgumentError, InvalidFileError
from tests.encode.checkpoints import save_model
from tests.recording_reporter import RecordingReporter

TEXTS = ["the bank", "a river", "fishing robbers , the bank ."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a transformer and word vectors."""
    folder = tmp_path_factory.mktemp("concatenated")
    (folder / "bert").mkdir()
    save_model(folder / "bert", "bert")
    words = ["the", "a", "bank", "river", "fishing"]
    matrix = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    mm.save(mm.Vectors(words, matrix), folder / "words.malmoi")
    return folder


def test_vectors_stand_side_by_side(folder: Path) -> None:
    names = [str(folder / "bert"), str(folder / "words.malmoi")]
    parts = [mm.load_encoder(name) for name in names]
    both = mm.load_encoder("+".join(names))
    assert isinstance(both, mm.ConcatenatedEncoder)
    assert both.dim == 32 + 4
    quiet = RecordingReporter()
    expected = np.hstack([part.encode(TEXTS, reporter=quiet) for part in parts])
    assert both.encode(TEXTS, reporter=quiet) == pytest.approx(expected, abs=1e-6)
    assert both.bounds[names[1]] == slice(32, 36)
    assert np.concatenate(list(both.stream(iter(TEXTS), reporter=quiet))) == pytest.approx(
        expected, abs=1e-6
    )


def test_normalized_parts_count_the_same(folder: Path) -> None:
    parts = [mm.load_encoder(str(folder / name)) for name in ("bert", "words.malmoi")]
    both = mm.concatenate_encoders(*parts, normalize_parts=True)
    vectors = both.encode(TEXTS[:2])
    for columns in both.bounds.values():
        assert np.linalg.norm(vectors[:, columns], axis=1) == pytest.approx([1, 1], abs=1e-5)


def test_a_path_with_a_plus_is_one_model(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "a+b.malmoi"
    path.write_bytes((folder / "words.malmoi").read_bytes())
    assert isinstance(mm.load_encoder(str(path)), mm.AverageEncoder)


@pytest.mark.parametrize("name", ["minilm+", "+minilm", "+", "use++minilm"])
def test_missing_part_is_named(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match="lacks a model before or after"):
        mm.load_encoder(name)


def test_unknown_part_is_named() -> None:
    with pytest.raises(InvalidFileError, match="no model 'nowhere'"):
        mm.load_encoder("nowhere+nothing")


def test_one_encoder_is_too_few(folder: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="two or more"):
        mm.concatenate_encoders(mm.load_encoder(str(folder / "bert")))


def test_layers_are_refused(folder: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="several models side by side"):
        mm.load_transformer(f"{folder / 'bert'}+{folder / 'words.malmoi'}")


def test_commands_take_the_names(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"{folder / 'bert'}+{folder / 'words.malmoi'}"
    out, texts = tmp_path / "index", tmp_path / "texts.txt"
    texts.write_text("\n".join(TEXTS[:2]), encoding="utf-8")
    assert run(["embed", "the bank", "--model", name]) == 0
    assert "36 numbers" in capsys.readouterr().out
    assert run(["index", str(texts), "--model", name, "--out", str(out)]) == 0
    capsys.readouterr()
    assert run(["search", str(out), "a river"]) == 0
    assert "texts.txt:2" in capsys.readouterr().out.splitlines()[0]


def test_words_have_both_vectors(folder: Path) -> None:
    bert, words = (mm.load_encoder(str(folder / name)) for name in ("bert", "words.malmoi"))
    assert isinstance(bert, mm.TransformerEncoder)
    assert isinstance(words, mm.AverageEncoder)
    settings = mm.EmbedSettings(per="word")
    for order in ((bert, words), (words, bert)):
        both = mm.concatenate_encoders(*order)
        (chunk,) = embed(both, ["The bank , unknown"], settings, reporter=RecordingReporter())
        (spans,) = chunk.vectors
        assert isinstance(spans, mm.SpanVectors)
        assert spans.keys[:2] == ("The", "bank")
        contextual = bert.activations(["The bank , unknown"], layers=-1).words()[0]
        static = np.array([words.vectors["the"], words.vectors["bank"]])
        columns = {each.name: both.bounds[each.name] for each in order}
        assert spans.matrix[:, columns[bert.name]] == pytest.approx(contextual.matrix, abs=1e-5)
        assert spans.matrix[:2, columns[words.name]] == pytest.approx(static, abs=1e-6)
        assert not spans.matrix[3, columns[words.name]].any()


def test_words_of_two_contextual_models_are_refused(folder: Path) -> None:
    bert = mm.load_encoder(str(folder / "bert"))
    both = mm.concatenate_encoders(bert, bert)
    with pytest.raises(InvalidArgumentError, match="no vectors of words"):
        list(embed(both, ["the bank"], mm.EmbedSettings(per="word")))
