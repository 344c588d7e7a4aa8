"""The folder of a pretrained model: other readers compute the states of our network."""

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch

import malmoi as mm
from malmoi.encode.elmo.encoder import load_elmo
from malmoi.files.source import InputFile
from malmoi.files.tensor_file import read_tensor_file
from malmoi.models.nnlm_network import repeatable
from malmoi.reporting.reporter import SilentReporter
from malmoi.text.character_ids import character_ids
from malmoi.tune.elmo.batches import epoch_batches
from malmoi.tune.elmo.folder import KIND, save_elmo
from malmoi.tune.elmo.initial_softmax import random_softmax
from malmoi.tune.elmo.network.export import hdf5_weights
from malmoi.tune.elmo.pretraining import train_elmo
from malmoi.tune.elmo.result import PretrainedElmo
from malmoi.tune.elmo.trainer import ElmoTrainer
from tests import naive_elmo
from tests.tune.elmo.worlds import corpus_text, quick, sentences

WORDS = ["the", "internationalization", "한국", "ㅋㅋ", "x" * 60]


def pretrained(**changes: Any) -> PretrainedElmo:
    return train_elmo(sentences(40), quick(epochs=1, **changes), reporter=SilentReporter())


@pytest.mark.parametrize("characters", ["bytes", "jamo"])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_reader_computes_the_states_of_the_network(
    characters: Any, layers: int, tmp_path: Path
) -> None:
    settings = quick(characters=characters, layers=layers)
    text = corpus_text(sentences(40), settings)
    with repeatable(1, 1):
        trainer = ElmoTrainer(text, settings, random_softmax(text, settings))
        for batch in epoch_batches(text.train, 64, 1, 0):
            trainer.step(batch, 0.05)  # far from the initial weights
        network = trainer.network.eval()
        ids = character_ids(WORDS, 50, characters)
        marks = text.characters[-2:].astype(np.int64)
        every = torch.from_numpy(np.concatenate([marks[:1], ids, marks[1:]]))
        with torch.no_grad():
            vectors = network.cnn([every])[:, None]
            forward = network.layers(0, vectors)
            backward = network.layers(1, vectors.flip(0))
    model = pretrained(characters=characters, layers=layers)
    model.weights.update(hdf5_weights(network))
    save_elmo(model, tmp_path / "elmo")
    expected = [torch.cat([vectors, vectors], 2)[:, 0]]
    for one, other in zip(forward, backward, strict=True):
        expected.append(torch.cat([one, other.flip(0)], 2)[:, 0])
    (states,) = load_elmo(str(tmp_path / "elmo")).activations([" ".join(WORDS)]).states
    np.testing.assert_allclose(states, torch.stack(expected), atol=1e-5)
    if characters == "bytes":
        options, tensors = read(tmp_path / "elmo")
        twin = naive_elmo.layers(tensors, options, WORDS)
        np.testing.assert_allclose(twin, torch.stack(expected), atol=1e-5)


def read(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options, and the weights as h5py reads them."""
    options = json.loads((folder / "options.json").read_text(encoding="utf-8"))
    tensors: dict[str, Any] = {}
    with h5py.File(folder / "weights.hdf5") as file:
        file.visititems(
            lambda name, item: tensors.update({name: item[()]}) if hasattr(item, "shape") else None
        )
    return options, tensors


def test_options_and_shapes_are_those_of_the_original(tmp_path: Path) -> None:
    save_elmo(pretrained(), tmp_path / "elmo")
    options = json.loads((tmp_path / "elmo" / "options.json").read_text(encoding="utf-8"))
    assert options["lstm"] == {
        "use_skip_connections": True,
        "projection_dim": 12,
        "dim": 12,
        "cell_clip": None,
        "proj_clip": None,
        "n_layers": 2,
    }
    assert options["char_cnn"]["n_characters"] == 262
    assert options["char_cnn"]["max_characters_per_token"] == 50
    assert options["malmoi"]["tokenizer"]["name"] == "whitespace"
    with h5py.File(tmp_path / "elmo" / "weights.hdf5") as file:
        assert file["char_embed"].shape == (261, 16)
        assert file["CNN/W_cnn_2"].shape == (1, 3, 16, 8)
        assert file["CNN_high_0/W_carry"].shape == (18, 18)
        assert file["CNN_proj/W_proj"].shape == (18, 12)
        cell = file["RNN_1/RNN/MultiRNNCell/Cell1/LSTMCell"]
        assert cell["W_0"].shape == (24, 48)
        assert cell["B"].shape == (48,)
        np.testing.assert_array_equal(cell["W_P_0"], np.eye(12))


def test_jamo_have_rows_of_their_own(tmp_path: Path) -> None:
    save_elmo(pretrained(characters="jamo"), tmp_path / "elmo")
    options = json.loads((tmp_path / "elmo" / "options.json").read_text(encoding="utf-8"))
    with h5py.File(tmp_path / "elmo" / "weights.hdf5") as file:
        assert options["char_cnn"]["n_characters"] == len(file["char_embed"]) + 1 > 300
    assert options["malmoi"]["characters"] == "jamo"


def test_the_softmax_and_its_words_are_kept(tmp_path: Path) -> None:
    model = pretrained()
    save_elmo(model, tmp_path / "elmo")
    words = (tmp_path / "elmo" / "vocab.txt").read_text(encoding="utf-8").splitlines()
    assert words[:3] == ["<S>", "</S>", "<UNK>"]
    tensors, metadata = read_tensor_file(InputFile(tmp_path / "elmo" / "softmax.safetensors"), KIND)
    assert tensors["softmax"].shape == (len(words), 13)
    facts = json.loads(metadata["training"])
    assert facts["perplexity"]["forward"] == model.perplexity.forward
    assert facts["settings"]["dim"] == 12


def test_an_existing_folder_is_not_replaced(tmp_path: Path) -> None:
    model = pretrained()
    (tmp_path / "elmo").mkdir()
    with pytest.raises(mm.InvalidFileError, match="exists already"):
        save_elmo(model, tmp_path / "elmo")
    assert [path.name for path in tmp_path.iterdir()] == ["elmo"]
