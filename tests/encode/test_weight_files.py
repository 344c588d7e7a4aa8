"""Weights in halves, in several files, or out of a pickle: the states are transformers'."""

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_torch

from malmoi.cli import run
from malmoi.encode.checkpoint.convert import convert_model
from malmoi.encode.checkpoint.weights import INDEX
from malmoi.encode.encoder import load_transformer
from malmoi.errors import InvalidFileError
from malmoi.files.source import InputFile
from malmoi.files.tensors import read_safetensors
from tests.encode.checkpoints import change, save_model, save_tokenizer
from tests.encode.test_equal_to_transformers import assert_equal

pytestmark = pytest.mark.filterwarnings("ignore:.*unknown")  # so few are known


def pickled(folder: Path, family: str = "bert") -> Any:
    """A folder as older programs have saved it."""
    model = save_model(folder, family)
    (folder / "model.safetensors").unlink()
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    return model


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_read(dtype: torch.dtype, tmp_path: Path) -> None:
    model = save_model(tmp_path, "bert").to(dtype)
    model.save_pretrained(tmp_path)
    assert_equal(load_transformer(str(tmp_path)), model.float(), 1e-5)


def test_bfloat16_is_widened_bit_by_bit(tmp_path: Path) -> None:
    numbers = torch.tensor([1.5, -3e38, 1e-40, float("inf"), 0.1]).bfloat16()
    save_torch({"numbers": numbers}, tmp_path / "x.safetensors")
    tensors, _ = read_safetensors(InputFile(tmp_path / "x.safetensors"))
    np.testing.assert_array_equal(tensors["numbers"], numbers.float().numpy())


def sharded(folder: Path) -> Any:
    model = save_model(folder, "bert")
    (folder / "model.safetensors").unlink()
    model.save_pretrained(folder, max_shard_size="20KB")
    assert len(list(folder.glob("model-*.safetensors"))) > 2
    return model


def test_weights_in_several_files(tmp_path: Path) -> None:
    model = sharded(tmp_path)
    assert_equal(load_transformer(str(tmp_path)), model, 1e-5)


def test_other_weights_in_the_same_files_make_another_graph(tmp_path: Path) -> None:
    sharded(tmp_path)
    before = load_transformer(str(tmp_path)).encode(["the bank"])
    other = tmp_path / "other"
    model = save_model(other, "bert", intermediate_size=47)
    (other / "model.safetensors").unlink()
    model.save_pretrained(other, max_shard_size="20KB")
    assert_equal(load_transformer(str(other)), model, 1e-5)
    assert np.abs(load_transformer(str(other)).encode(["the bank"]) - before).max() > 1e-3


def spoil_index(folder: Path, **entries: Any) -> None:
    change(folder / INDEX, **entries)


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"weight_map": None}, "has no weight_map from tensors to files"),
        ({"weight_map": {"a": "../b.safetensors"}}, "not a safetensors file in its folder"),
        ({"weight_map": {"a": "pytorch_model.bin"}}, "not a safetensors file in its folder"),
        ({"weight_map": {"a": "gone.safetensors"}}, r"gone\.safetensors does not exist"),
        ({"weight_map": {"a": "here.safetensors"}}, r"lists 'a' in here\.safetensors"),
    ],
)
def test_an_index_that_lies(entries: dict[str, Any], said: str, tmp_path: Path) -> None:
    sharded(tmp_path)
    save_file({"b": np.zeros(1, np.float32)}, tmp_path / "here.safetensors")
    spoil_index(tmp_path, **entries)
    with pytest.raises(InvalidFileError, match=said):
        load_transformer(str(tmp_path))


def test_numbers_of_an_unknown_kind(tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    path = tmp_path / "model.safetensors"
    path.write_bytes(path.read_bytes().replace(b'"dtype":"F32"', b'"dtype":"F99"', 1))
    with pytest.raises(InvalidFileError, match="holds numbers of the unknown type 'F99'"):
        load_transformer(str(tmp_path))


def test_a_pickle_is_refused_and_the_command_that_is_named_converts_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    model = pickled(old)
    (old / "onnx").mkdir()
    (old / "onnx" / "config.json").write_text("{}")
    with pytest.raises(InvalidFileError, match=f"malmoi convert {old} NEW_FOLDER"):
        load_transformer(str(old))
    assert run(["convert", str(old), str(new), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == {"written": str(new), "weights": len(model.state_dict())}
    assert_equal(load_transformer(str(new)), model, 1e-5)
    assert sorted(path.name for path in new.iterdir()) == [
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    again = transformers.AutoModel.from_pretrained(new)  # others open it too
    for name, tensor in model.state_dict().items():
        np.testing.assert_array_equal(again.state_dict()[name].numpy(), tensor.numpy())


def test_a_pickle_in_halves_and_in_parts(tmp_path: Path) -> None:
    old = tmp_path / "old"
    model = pickled(old).bfloat16()
    state = model.state_dict()
    names = sorted(state)
    files = {"pytorch_model-1.bin": names[::2], "pytorch_model-2.bin": names[1::2]}
    for file, held in files.items():
        torch.save({name: state[name] for name in held}, old / file)
    (old / "pytorch_model.bin").unlink()
    index = {name: file for file, held in files.items() for name in held}
    (old / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": index}))
    convert_model(old, tmp_path / "new")
    assert_equal(load_transformer(str(tmp_path / "new")), model.float(), 1e-5)


class Payload:
    """What a pickle may hold: a program that is run as soon as somebody looks."""

    def __init__(self, proof: Path) -> None:
        self.proof = proof

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (exec, (f"import pathlib; pathlib.Path({str(self.proof)!r}).write_text('gotcha')",))


@pytest.mark.parametrize("zipped", [True, False])
def test_a_program_in_a_pickle_is_not_run(zipped: bool, tmp_path: Path) -> None:
    old, proof = tmp_path / "old", tmp_path / "proof"
    pickled(old)
    held = {"weight": torch.zeros(2), "more": Payload(proof)}
    torch.save(held, old / "pytorch_model.bin", _use_new_zipfile_serialization=zipped)
    with pytest.raises(
        InvalidFileError, match="was not opened: it is damaged, or holds more than weights"
    ):
        convert_model(old, tmp_path / "new")
    with pytest.raises(InvalidFileError, match="is a pickle"):
        load_transformer(str(old))
    assert not proof.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old"]  # nothing half-written
    with pytest.raises(Exception):  # the payload is real: a careless reader runs it  # noqa: B017, PT011
        torch.load(old / "pytorch_model.bin", weights_only=False)["nothing"]
    assert proof.read_text() == "gotcha"


def test_a_plain_pickle_is_not_run_either(tmp_path: Path) -> None:
    old, proof = tmp_path / "old", tmp_path / "proof"
    pickled(old)
    (old / "pytorch_model.bin").write_bytes(pickle.dumps(Payload(proof)))
    assert run(["convert", str(old), str(tmp_path / "new")]) == 1
    assert not proof.exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"nonsense", "was not opened"), (b"", "was not opened"), (None, "no pytorch_model.bin")],
)
def test_what_cannot_be_converted(content: bytes | None, said: str, tmp_path: Path) -> None:
    old = tmp_path / "old"
    pickled(old)
    if content is None:
        (old / "pytorch_model.bin").unlink()
    else:
        (old / "pytorch_model.bin").write_bytes(content)
    with pytest.raises(InvalidFileError, match=said):
        convert_model(old, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_other_things_than_weights(tmp_path: Path) -> None:
    old = tmp_path / "old"
    pickled(old)
    torch.save({"epoch": 3}, old / "pytorch_model.bin")
    with pytest.raises(InvalidFileError, match="holds 'epoch', which is not a weight"):
        convert_model(old, tmp_path / "new")
    torch.save([torch.zeros(1)], old / "pytorch_model.bin")
    with pytest.raises(InvalidFileError, match="is not a dictionary of weights"):
        convert_model(old, tmp_path / "new")


def test_what_is_there_is_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    pickled(old)
    new.mkdir()
    capsys.readouterr()
    for words, said in (
        ([str(old), str(new)], "exists already: choose another name"),
        ([str(old), str(tmp_path / "no" / "where")], "cannot write"),
        ([str(new), str(tmp_path / "other")], "it is not a model folder"),
        (
            [str(old), str(tmp_path / "other"), "--limit", "3"],
            "these options are for files of vectors",
        ),
    ):
        assert run(["convert", *words]) == 1
        errors = capsys.readouterr().err
        assert said in errors
        assert errors.count("\n") == 1
    assert list(new.iterdir()) == []


def test_an_interrupted_conversion_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pickled(tmp_path / "old")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("malmoi.encode.checkpoint.convert.write_safetensors", interrupted)
    with pytest.raises(KeyboardInterrupt):
        convert_model(tmp_path / "old", tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_model_is_opened_without_torch(tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    save_tokenizer(tmp_path)
    code = (
        f"import sys, malmoi\nmalmoi.load_encoder({str(tmp_path)!r}).encode(['the bank'])\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "False"
