"""Folders of ELMo models: their names, what is refused in one sentence, inspection, conversion."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from malmoi.cli import run
from malmoi.encode.elmo.encoder import load_elmo
from malmoi.encode.inspection import inspect_model
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.files.tensors import write_safetensors
from tests.encode.elmo.folders import OPTIONS, save_elmo, write_weights

TEXTS = ["The bank of the river isn't far.", "한국어"]
CELL = "RNN_0/RNN/MultiRNNCell/Cell0/LSTMCell/"
Output = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("options", "weights"),
    [
        ("options.json", "lm_weights.hdf5"),
        ("elmo_2x6_options.json", "elmo_2x6_weights.hdf5"),
        ("options.json", "model.h5"),
    ],
)
def test_names_of_allennlp_and_bilm_are_read(options: str, weights: str, tmp_path: Path) -> None:
    save_elmo(tmp_path / "plain")
    expected = load_elmo(str(tmp_path / "plain")).encode(TEXTS)
    save_elmo(tmp_path / "named")
    (tmp_path / "named/options.json").rename(tmp_path / "named" / options)
    (tmp_path / "named/weights.hdf5").rename(tmp_path / "named" / weights)
    np.testing.assert_array_equal(load_elmo(str(tmp_path / "named")).encode(TEXTS), expected)


def without(name: str) -> Callable[[dict[str, Any]], None]:
    def change(tensors: dict[str, Any]) -> None:
        del tensors[name]

    return change


def with_tensor(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(tensors: dict[str, Any]) -> None:
        tensors[name] = value(tensors[name])

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (without(CELL + "W_P_0"), f"has no '{CELL}W_P_0', which its options ask for"),
        (without("char_embed"), "has no 'char_embed'"),
        (with_tensor("char_embed", lambda t: np.vstack([t, t[:1]])),
         "'char_embed' is 262 × 3, but its options need 261 × 3"),
        (with_tensor(CELL + "B", lambda t: t[1:]), "is 43, but its options need 44"),
        (with_tensor(CELL + "B", lambda t: t.astype(np.int32)), "holds int32 instead of floats"),
        (with_tensor("CNN/b_cnn_1", lambda t: t * np.nan), "contains NaN or infinity"),
    ],
)  # fmt: skip
def test_weights_that_do_not_fit_are_refused(
    change: Callable[[dict[str, Any]], None], sentence: str, tmp_path: Path
) -> None:
    _, tensors = save_elmo(tmp_path)
    changed = dict(tensors)
    change(changed)
    write_weights(tmp_path, changed)
    with pytest.raises(InvalidFileError) as refused:
        load_elmo(str(tmp_path))
    assert sentence in str(refused.value)
    assert "weights.hdf5" in str(refused.value)
    assert inspect_model(str(tmp_path)).findings[0].problem == str(refused.value)


@pytest.mark.parametrize(
    ("part", "values", "sentence"),
    [
        ("char_cnn", {"n_characters": 300}, "n_characters is 300; bytes need 261, or 262"),
        ("char_cnn", {"activation": "gelu"}, "the activation 'gelu' is not relu or tanh"),
        ("char_cnn", {"filters": [[30, 4]]}, "up to 30 characters wide, do not fit words of 20"),
        ("char_cnn", {"filters": []}, "do not fit"),
        ("char_cnn", {"filters": [[0, 4]]}, "the width of a filter is 0"),
        ("char_cnn", {"filters": 7}, "does not describe an ELMo model"),
        ("char_cnn", {"max_characters_per_token": 10**9}, "it must be from 3 to 1,000"),
        ("char_cnn", {"n_highway": 10**6}, "n_highway is 1000000"),
        ("lstm", {"n_layers": 10**9}, "lstm.n_layers is 1000000000"),
        ("lstm", {"dim": None}, "'dim' is missing"),
        ("lstm", {"dim": 1.5}, "lstm.dim is 1.5"),
        ("lstm", {"cell_clip": -1}, "cell_clip is -1: it must be positive"),
        ("malmoi", {"characters": "letters"}, "must be one of bytes, jamo, not 'letters'"),
    ],
)  # fmt: skip
def test_options_that_make_no_model_are_refused(
    part: str, values: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    save_elmo(tmp_path)
    options = json.loads(json.dumps(OPTIONS))
    options.setdefault(part, {}).update(values)
    options[part] = {name: value for name, value in options[part].items() if value is not None}
    (tmp_path / "options.json").write_text(json.dumps(options))
    with pytest.raises(InvalidFileError) as refused:
        load_elmo(str(tmp_path))
    assert sentence in str(refused.value)
    assert "options.json" in str(refused.value)


def test_folders_that_are_not_whole_are_refused(tmp_path: Path) -> None:
    save_elmo(tmp_path)
    (tmp_path / "other_options.json").write_text("{}")
    with pytest.raises(InvalidFileError, match=r"keep one of options\.json, other"):
        load_elmo(str(tmp_path))
    (tmp_path / "other_options.json").unlink()
    (tmp_path / "more_weights.hdf5").write_bytes(b"")
    with pytest.raises(InvalidFileError, match="several files of weights: keep one of more_"):
        load_elmo(str(tmp_path))
    for path in tmp_path.glob("*.hdf5"):
        path.unlink()
    with pytest.raises(InvalidFileError, match=r"has no weights\.hdf5"):
        load_elmo(str(tmp_path))
    (tmp_path / "options.json").write_text(json.dumps({"lstm": OPTIONS["lstm"]}))
    with pytest.raises(InvalidFileError, match="models that read words instead of characters"):
        load_elmo(str(tmp_path))
    (tmp_path / "options.json").unlink()
    with pytest.raises(InvalidFileError, match=r"has no options\.json"):
        load_elmo(str(tmp_path))


def test_an_unknown_tokenizer_is_refused(tmp_path: Path) -> None:
    save_elmo(tmp_path, {"malmoi": {"tokenizer": {"name": "magic"}}})
    with pytest.raises(InvalidArgumentError, match="unknown tokenizer 'magic'"):
        load_elmo(str(tmp_path))


def test_truncated_weights_are_refused(tmp_path: Path) -> None:
    save_elmo(tmp_path)
    path = tmp_path / "weights.hdf5"
    whole = path.read_bytes()
    for size in (0, 5, 100, 900, len(whole) // 2, len(whole) - 200):
        path.write_bytes(whole[:size])
        with pytest.raises(InvalidFileError, match=r"weights\.hdf5"):
            load_elmo(str(tmp_path))


def test_models_without_projections_are_read(tmp_path: Path) -> None:
    changes = {"lstm": {"dim": 18, "projection_dim": 18, "proj_clip": None}}
    _, tensors = save_elmo(tmp_path / "whole", changes)  # 18 filters
    left = {
        name: t for name, t in tensors.items() if "CNN_proj" not in name and "W_P_0" not in name
    }
    save_elmo(tmp_path / "left", changes)
    write_weights(tmp_path / "left", left)
    same = dict(left)
    for name, tensor in tensors.items():
        if name not in left:
            same[name] = np.eye(18, dtype=np.float32) if tensor.ndim == 2 else 0 * tensor
    write_weights(tmp_path / "whole", same)
    np.testing.assert_allclose(
        load_elmo(str(tmp_path / "left")).encode(TEXTS),
        load_elmo(str(tmp_path / "whole")).encode(TEXTS),
        atol=1e-6,
    )


def test_float64_weights_are_read(tmp_path: Path) -> None:
    _, tensors = save_elmo(tmp_path)
    before = load_elmo(str(tmp_path)).encode(TEXTS)
    write_weights(tmp_path, {name: t.astype(np.float64) for name, t in tensors.items()})
    np.testing.assert_array_equal(load_elmo(str(tmp_path)).encode(TEXTS), before)
    assert inspect_model(str(tmp_path)).dtypes == "float64"


def test_a_folder_is_converted_to_safetensors(tmp_path: Path, capsys: Output) -> None:
    save_elmo(tmp_path / "old")
    (tmp_path / "old/vocab.txt").write_text("a")
    assert run(["convert", str(tmp_path / "old"), str(tmp_path / "new")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'new'}: 29 weights\n"
    names = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert names == ["options.json", "weights.safetensors"]
    np.testing.assert_array_equal(
        load_elmo(str(tmp_path / "new")).encode(TEXTS),
        load_elmo(str(tmp_path / "old")).encode(TEXTS),
    )
    assert run(["convert", str(tmp_path / "new"), str(tmp_path / "newer")]) == 1
    assert "its weights are safetensors" in capsys.readouterr().err
    assert not (tmp_path / "newer").exists()


def test_a_folder_is_described(tmp_path: Path, capsys: Output) -> None:
    save_elmo(tmp_path)
    assert run(["inspect", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    for line in (
        "family      elmo",
        "layers      2 of 12 dimensions",
        "vocabulary  any word, by its characters",
        "longest     2,048 tokens per text",
        "numbers     float32",
        "tokenizer   words by the rules of english, read as bytes",
        "pooling     mean of all layers, mean",
        "no problems",
    ):
        assert line in out.splitlines()
    with h5py.File(tmp_path / "weights.hdf5", "a") as file:
        del file["char_embed"]
    assert run(["inspect", str(tmp_path)]) == 0
    assert "has no 'char_embed'" in " ".join(capsys.readouterr().out.split())


def test_weights_in_safetensors_are_checked_too(tmp_path: Path) -> None:
    _, tensors = save_elmo(tmp_path)
    left = {name: tensor for name, tensor in tensors.items() if name != "CNN/b_cnn_0"}
    write_safetensors(tmp_path / "weights.safetensors", left, {})
    with pytest.raises(InvalidFileError, match=r"weights.safetensors has no 'CNN/b_cnn_0'"):
        load_elmo(str(tmp_path))
