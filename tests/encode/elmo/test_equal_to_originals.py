"""ELMo beside the numbers of the programs that made it: AllenNLP's fixture and bilm-tf's.

The originals carry the states of LSTMs from batch to batch, so these tests do too; the encoder
does not. AllenNLP 2.10.1 cannot be installed here: all three layers with fresh states were once
compared with a reference in torch (9.5e-7), from which our twin differs by 1.1e-6.
"""

import json
import os
from pathlib import Path

import h5py
import numpy as np
import pytest

from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.elmo_options import read_options
from malmoi.encode.checkpoint.elmo_weights import read_elmo_weights
from malmoi.encode.elmo.bilm import TimeSteps, new_states, run_bilm
from malmoi.encode.elmo.numpy_network import ElmoNetwork, LstmState
from malmoi.encode.loading import load_contextual
from malmoi.text.character_ids import boundary_ids, character_ids
from tests import naive_elmo
from tests.encode.elmo.test_network import NETWORKS, Make, ids_of, opened

FIXTURES = Path(os.environ.get("MALMOI_DATA", "/work/shared/data")) / "elmo"
SENTENCES = {"skip": "sentences.json", "plain": "lm_embeddings_sentences.json"}
BATCHES, BATCH_SIZE = 10, 3
TOLERANCE = 2e-6
# The first four numbers of the first word of the first text by layer, with fresh states, where the
# twin and that reference agree. AllenNLP refuses `plain`, which has no skip connections.
RECORDED = {
    "skip": [
        [1.40234, -1.90068, -0.37156, 2.38242],
        [1.6211, 2.56257, 0.85594, -2.01634],
        [1.82244, 2.82076, 0.53284, -1.91638],
    ],
    "plain": [
        [0.23795, 0.14928, 0.15912, -0.03798],
        [0.17771, -0.07776, -0.07536, 0.04594],
        [0.02627, -0.4088, -0.38658, 0.19329],
    ],
}
pytestmark = pytest.mark.skipif(
    not FIXTURES.is_dir(), reason="no ELMo fixtures: set MALMOI_DATA to a folder that has elmo/"
)


def carried(
    network: ElmoNetwork, folder: Path, states: list[list[LstmState]], number: int
) -> list[Float32Array]:
    """The top layer of the texts of a batch, without boundaries, from states that go on."""
    config = read_options(folder)
    texts = json.loads((folder / SENTENCES[folder.name]).read_text())
    ids = [ids_of(texts[i][number].split(), config.max_characters) for i in range(BATCH_SIZE)]
    sizes = np.array([len(each) for each in ids])
    order = np.argsort(-sizes, kind="stable")
    sorted_states = [
        [LstmState(each.output[order], each.cells[order]) for each in layers] for layers in states
    ]
    rows = network.words(np.concatenate(ids))
    (top,) = run_bilm(network, config, rows, TimeSteps(sizes), [2], states=sorted_states)
    for layers, new in zip(states, sorted_states, strict=True):
        for old, after in zip(layers, new, strict=True):
            old.output[order], old.cells[order] = after
    return [part[1:-1] for part in np.split(top, np.cumsum(sizes)[:-1])]


@pytest.mark.parametrize("make", NETWORKS)
@pytest.mark.parametrize("name", SENTENCES)
def test_the_top_layer_is_that_of_the_original_program(make: Make, name: str) -> None:
    folder = FIXTURES / name
    network, config = opened(folder, make)
    files = [h5py.File(folder / f"lm_embeddings_{i}.hdf5") for i in range(BATCH_SIZE)]
    states = new_states(BATCH_SIZE, config)
    for number in range(BATCHES):
        for file, ours in zip(files, carried(network, folder, states, number), strict=True):
            forward, backward = file[str(number)][...]
            expected = np.concatenate([forward, backward], axis=1)
            assert np.abs(ours - expected).max() < TOLERANCE


@pytest.mark.parametrize("make", NETWORKS)
def test_the_token_vectors_are_those_of_the_original_program(make: Make) -> None:
    folder = FIXTURES / "skip"
    network, config = opened(folder, make)
    marks = dict(zip(("<S>", "</S>"), boundary_ids(config.max_characters), strict=True))
    words = (folder / "vocab_test.txt").read_text(encoding="utf-8").split("\n")
    with h5py.File(folder / "elmo_token_embeddings.hdf5") as file:
        expected = file["embedding"][...]
    ids = np.stack(
        [
            marks[word] if word in marks else character_ids([word], config.max_characters)[0]
            for word in (each.strip() for each in words)
            if word
        ][: len(expected)]
    )
    assert len(expected) > 400
    assert {"<S>", "</S>"} <= {word.strip() for word in words}
    assert np.abs(network.words(ids) - expected).max() < TOLERANCE


@pytest.mark.parametrize("name", SENTENCES)
def test_every_layer_with_fresh_states_is_that_of_the_twin(name: str) -> None:
    folder = FIXTURES / name
    texts = json.loads((folder / SENTENCES[name]).read_text())
    few = [text.split() for text in texts[0][:4]]
    options = json.loads((folder / "options.json").read_text())
    with h5py.File(folder / "lm_weights.hdf5") as file:
        names: list[str] = []
        file.visititems(lambda path, item: names.append(path) if hasattr(item, "shape") else None)
        tensors = {path: file[path][...] for path in names}
    encoder = load_contextual(str(folder))
    ours = encoder.activations(few)
    for text, states in zip(few, ours.states, strict=True):
        expected = naive_elmo.layers(tensors, options, text)
        assert np.abs(states - expected).max() < 3e-6
    np.testing.assert_allclose(ours.states[0][:, 1, :4], RECORDED[name], atol=1e-5)


@pytest.mark.parametrize("name", SENTENCES)
def test_the_weights_are_those_that_h5py_reads(name: str) -> None:
    folder = FIXTURES / name
    weights = read_elmo_weights(folder, read_options(folder))
    with h5py.File(folder / "lm_weights.hdf5") as file:
        cell = file["RNN_1/RNN/MultiRNNCell/Cell1/LSTMCell"]
        bias = cell["B"][...]
        bias[128:192] += 1
        np.testing.assert_array_equal(weights.lstms[1][1].gates.bias, bias)
        np.testing.assert_array_equal(weights.lstms[1][1].projection, cell["W_P_0"][...])
        np.testing.assert_array_equal(weights.characters, file["char_embed"][...])
