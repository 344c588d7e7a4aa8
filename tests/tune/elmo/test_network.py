"""The network: each trick beside the plain way to compute the same."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from malmoi.models.nnlm_network import repeatable
from malmoi.reporting.reporter import SilentReporter
from malmoi.text.character_ids import character_ids
from malmoi.tune.elmo.batches import epoch_batches, word_grid
from malmoi.tune.elmo.initial_softmax import lsa_softmax, random_softmax
from malmoi.tune.elmo.network.char_cnn import CharacterCnn
from malmoi.tune.elmo.trainer import SOFTMAX, ElmoTrainer
from tests.tune.elmo.worlds import corpus_text, quick, sentences

FILTERS = ((1, 4), (2, 5), (3, 6), (7, 3))
WORDS = ["a", "cat", "internationalization", "한국", "", "x" * 60]


def plain_features(cnn: CharacterCnn, ids: torch.Tensor) -> torch.Tensor:
    """Convolutions over all 50 characters, and their maxima."""
    vectors = functional.embedding(ids, cnn.embedding).transpose(1, 2)
    parts = [
        torch.relu(functional.conv1d(vectors, kernel.permute(2, 1, 0), bias).amax(2))
        for kernel, bias in zip(cnn.kernels, cnn.biases, strict=True)
    ]
    return torch.cat(parts, 1)


def test_features_and_gradients_are_those_of_convolutions() -> None:
    torch.manual_seed(0)
    cnn = CharacterCnn(261, FILTERS, 10)
    for bias in cnn.biases:
        bias.data.normal_()
    ids = torch.from_numpy(character_ids(WORDS, 50))
    weights = [cnn.embedding, *cnn.kernels, *cnn.biases]
    ours, theirs = cnn.features(ids), plain_features(cnn, ids)
    torch.testing.assert_close(ours, theirs)
    factors = torch.randn_like(ours)
    gradients = [torch.autograd.grad((factors * each).sum(), weights) for each in (ours, theirs)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_a_trimmed_word_has_the_same_features() -> None:
    torch.manual_seed(0)
    cnn = CharacterCnn(261, FILTERS, 10)
    for word in WORDS:
        ids = torch.from_numpy(character_ids([word], 50))
        size = int((ids != 260).sum())
        torch.testing.assert_close(cnn.features(ids[:, : size + 7]), cnn.features(ids))


def test_distinct_words_once_give_the_same_states() -> None:
    settings = quick()
    text = corpus_text(sentences(), settings)
    with repeatable(1, 1):
        trainer = ElmoTrainer(text, settings, random_softmax(text, settings))
        trainer.network.eval()
        for batch in epoch_batches(text.train, 64, 1, 0)[:3]:
            states, _ = trainer.states(word_grid(text, batch, settings.widest_filter))
            words = text.train.grid(batch.rows)
            begin = torch.full((1, words.shape[1]), text.begin)
            ids = torch.cat([begin, torch.from_numpy(words), begin + 1])
            characters = torch.from_numpy(text.characters[ids.numpy()].astype("int64"))
            vectors = trainer.network.cnn([characters.flatten(0, 1)]).reshape(*ids.shape, -1)
            plain = [
                trainer.network.layers(d, each[:-1])[-1]
                for d, each in enumerate((vectors, vectors.flip(0)))
            ]
            torch.testing.assert_close(states, torch.stack(plain).flatten(0, 2))


def test_a_step_changes_the_rows_of_candidates_alone() -> None:
    settings = quick(negative_samples=1, batch_size=16)
    text = corpus_text([f"word{i} word{i + 1}" for i in range(60)], settings)
    with repeatable(1, 1):
        trainer = ElmoTrainer(text, settings, random_softmax(text, settings))
        before = trainer.weights()
        batch = epoch_batches(text.train, 4, 1, 0)[0]
        trainer.step(batch, 0.01)
        after = trainer.weights()
    changed = (before[SOFTMAX] != after[SOFTMAX]).any(axis=1)
    assert 1 < changed.sum() < 10
    assert (before["cnn.projection.weight"] != after["cnn.projection.weight"]).any()
    assert not before["lstms.0.bias_ih_l0"][:12].any()
    assert "lstms.0.bias_hh_l0" not in before


def test_a_small_batch_takes_a_small_gradient() -> None:
    gradients = []
    for size in (8, 800):
        settings = quick(batch_size=size)
        text = corpus_text(sentences(), settings)
        with repeatable(1, 1):
            trainer = ElmoTrainer(text, settings, random_softmax(text, settings))
            trainer.update = lambda learning_rate: None  # type: ignore[method-assign]
            batch = epoch_batches(text.train, 8, 1, 0)[0]
            trainer.step(batch, 0.01)
        gradient = trainer.network.cnn.projection.weight.grad
        assert gradient is not None
        gradients.append(gradient)
    torch.testing.assert_close(gradients[0] * max(8, len(batch)) / 800, gradients[1])


def test_the_softmax_starts_from_lsa() -> None:
    """Words with the same neighbours have similar rows; all have their frequency as the bias."""
    lines = [f"{subject} eats {food}" for subject in "ABCDE" for food in "vwxyz"]
    lines = [*lines, *(f"{subject} reads {text}" for subject in "FGHIJ" for text in "12345")] * 4
    settings = quick(dim=4)
    text = corpus_text(lines, settings)
    table, random = lsa_softmax(text, settings, SilentReporter()), random_softmax(text, settings)
    rows = {word: table[row, :-1] for row, word in enumerate(text.words.words)}
    assert rows["A"] @ rows["B"] > rows["A"] @ rows["F"] + 0.3
    np.testing.assert_array_equal(table[:3], random[:3])
    np.testing.assert_array_equal(table[:, -1], random[:, -1])
    shares = np.exp(table[:, -1])
    assert shares.sum() == pytest.approx(1, abs=1e-5)


def test_more_dimensions_than_words() -> None:
    settings = quick(dim=30)
    text = corpus_text(["a b", "b a", "a a", "b"], settings)
    table = lsa_softmax(text, settings, SilentReporter())
    assert table.shape == (5, 31)
    assert np.isfinite(table).all()
