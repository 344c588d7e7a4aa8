"""The network of ELMo, in NumPy and by kernels, beside its naive twin."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from malmoi.arrays import Int64Array
from malmoi.encode.checkpoint.elmo_options import ElmoConfig, read_options
from malmoi.encode.checkpoint.elmo_weights import ElmoWeights, read_elmo_weights
from malmoi.encode.elmo.bilm import TimeSteps, new_states, run_bilm
from malmoi.encode.elmo.numpy_network import ElmoNetwork, LstmState, NumpyNetwork
from malmoi.encode.runtime.engine import can_compile
from malmoi.text.character_ids import boundary_ids, character_ids
from tests import naive_elmo
from tests.encode.elmo.folders import PLAIN, save_elmo

Make = Callable[[ElmoWeights, ElmoConfig], ElmoNetwork]
TEXTS = [
    ["The", "bank", "."],
    ["한국어를", "읽는", "antidisestablishmentarianism", "", "a"],
    [],
    ["x"] * 9,
]


def compiled(weights: ElmoWeights, config: ElmoConfig) -> ElmoNetwork:
    from malmoi.encode.elmo.compiled_network import CompiledNetwork

    return CompiledNetwork(weights, config)


NETWORKS = [
    pytest.param(NumpyNetwork, id="numpy"),
    pytest.param(
        compiled,
        id="kernels",
        marks=pytest.mark.skipif(not can_compile(), reason="this processor has no AVX2 with FMA"),
    ),
]


def ids_of(text: list[str], size: int) -> Int64Array:
    first, last = boundary_ids(size)[:, np.newaxis]
    return np.concatenate([first, character_ids(text, size), last])


def opened(folder: Path, make: Make) -> tuple[ElmoNetwork, ElmoConfig]:
    config = read_options(folder)
    return make(read_elmo_weights(folder, config), config), config


@pytest.mark.parametrize("make", NETWORKS)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        PLAIN,
        {"lstm": {"cell_clip": None, "proj_clip": None, "n_layers": 3}},
        {"lstm": {"dim": 70, "projection_dim": 50}, "char_cnn": {"n_highway": 0}},
        {
            "char_cnn": {
                "filters": [[7, 60]],
                "max_characters_per_token": 7,
                "embedding": {"dim": 1},
            }
        },
    ],
    ids=["skip", "plain", "no clips", "wide", "one filter"],
)
def test_all_layers_are_those_of_the_twin(
    make: Make, changes: dict[str, Any], tmp_path: Path
) -> None:
    options, tensors = save_elmo(tmp_path, changes)
    network, config = opened(tmp_path, make)
    ids = [ids_of(text, config.max_characters) for text in TEXTS]
    steps = TimeSteps(np.array([len(each) for each in ids]))
    wanted = list(range(config.num_states))
    states = run_bilm(network, config, network.words(np.concatenate(ids)), steps, wanted)
    expected = [naive_elmo.layers(tensors, options, text) for text in TEXTS]
    np.testing.assert_allclose(np.stack(states), np.concatenate(expected, axis=1), atol=2e-6)


@pytest.mark.parametrize("make", NETWORKS)
def test_a_state_that_is_carried_is_that_of_the_twin(make: Make, tmp_path: Path) -> None:
    options, tensors = save_elmo(tmp_path)
    network, config = opened(tmp_path, make)
    states, carried = new_states(1, config), naive_elmo.State()
    for text in TEXTS:
        ids = ids_of(text, config.max_characters)
        steps, rows = TimeSteps(np.array([len(ids)])), network.words(ids)
        (ours,) = run_bilm(network, config, rows, steps, [2], states=states)
        expected = naive_elmo.layers(tensors, options, text, carried)
        np.testing.assert_allclose(ours, expected[2], atol=2e-6)
    assert np.abs(states[1][1].cells).max() == 0.5  # the clip


@pytest.mark.parametrize("make", NETWORKS)
def test_words_are_trimmed_without_a_difference(make: Make, tmp_path: Path) -> None:
    options, tensors = save_elmo(tmp_path)
    network, config = opened(tmp_path, make)
    size = config.max_characters
    words = ["a" * n for n in range(25)] + ["ab" * 40, "é" * 9]
    ids = character_ids(words, size)
    whole = [naive_elmo.token_vector(tensors, options, each) for each in ids.tolist()]
    np.testing.assert_allclose(network.words(ids), whole, atol=3e-6)
    alone = [network.words(ids[i : i + 1])[0] for i in range(len(ids))]
    np.testing.assert_allclose(alone, whole, atol=3e-6)


@pytest.mark.parametrize("make", NETWORKS)
def test_only_the_layers_in_need_are_computed(make: Make, tmp_path: Path) -> None:
    save_elmo(tmp_path)
    network, config = opened(tmp_path, make)
    rows, steps = np.ones((5, config.projection), np.float32), TimeSteps(np.array([2, 3]))
    both = run_bilm(network, config, rows, steps, [0, 1, 2], threads=2)
    for layer in range(3):
        (one,) = run_bilm(network, config, rows, steps, [layer])
        np.testing.assert_array_equal(one, both[layer])
    np.testing.assert_array_equal(both[0], np.hstack([rows, rows]))


def test_steps_have_every_token_once_in_both_directions() -> None:
    steps = TimeSteps(np.array([2, 0, 4, 1]))
    assert steps.active.tolist() == [3, 2, 1, 1]
    forward, backward = steps.rows
    assert forward.tolist() == [2, 0, 6, 3, 1, 4, 5]
    assert backward.tolist() == [5, 1, 6, 4, 0, 3, 2]
    assert TimeSteps(np.array([0])).active.tolist() == []


def test_a_state_is_of_one_text_alone(tmp_path: Path) -> None:
    save_elmo(tmp_path)
    network, _config = opened(tmp_path, NumpyNetwork)
    state = LstmState(np.ones((2, 6), np.float32), np.zeros((2, 11), np.float32))
    network.lstm(0, 0, np.ones((3, 6), np.float32), np.array([1, 1, 1]), state)
    assert (state.output[1] == 1).all()
    assert (state.output[0] != 1).all()


@pytest.mark.parametrize("make", NETWORKS)
def test_no_tokens_have_no_states(make: Make, tmp_path: Path) -> None:
    save_elmo(tmp_path)
    network, config = opened(tmp_path, make)
    rows, steps = np.zeros((0, 6), np.float32), TimeSteps(np.array([0, 0]))
    (top,) = run_bilm(network, config, rows, steps, [2])
    assert top.shape == (0, 12)
