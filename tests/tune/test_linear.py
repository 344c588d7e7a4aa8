"""Products in bfloat16: near those of float32, in training alone, and as good for learning."""

from pathlib import Path

import numpy as np
import pytest
import torch

from malmoi.encode.encoder import load_transformer
from malmoi.encode.loading import load_encoder
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.sets.sentence_sets import SentenceSet
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.network.linear import TrainedLinear, multiply_in_bfloat16, new_linear
from malmoi.tune.sentence.settings import TuneSettings
from malmoi.tune.sentence.tuning import tune_sentence
from tests.tune.test_network import ids_of, network_of
from tests.tune.worlds import QUIET, scored_pairs, tiny_model

ROUNDING = 2.0**-8  # of bfloat16, which has 8 significant bits
PAIRS = scored_pairs(40)
OWN = SentenceSet.of(*zip(*PAIRS, strict=True))


def test_gradients_are_those_of_float32_within_rounding() -> None:
    random = np.random.default_rng(1)
    arrays = [random.normal(size=size).astype(np.float32) for size in ((7, 16), 7, (5, 16))]
    results = []
    for is_rounded in (False, True):
        layer, rows = new_linear(*arrays[:2]), torch.from_numpy(arrays[2].copy()).requires_grad_()
        layer.uses_bfloat16 = is_rounded
        output = layer(rows)
        (output * torch.arange(7.0)).sum().backward()
        results.append([output.detach(), rows.grad, layer.weight.grad, layer.bias.grad])
    for exact, rounded in zip(*results, strict=True):
        assert exact is not None
        assert rounded is not None
        assert rounded.dtype == torch.float32
        error = float((exact - rounded).abs().max() / exact.abs().max())
        assert error < 2 * ROUNDING
    assert not torch.equal(results[0][0], results[1][0])
    torch.testing.assert_close(results[0][3], results[1][3])  # the bias is only added


def test_rows_that_need_no_gradient_get_none() -> None:
    layer = new_linear(np.ones((2, 3), np.float32), np.zeros(2, np.float32))
    layer.uses_bfloat16 = True
    rows = torch.ones(4, 3)
    layer(rows).sum().backward()
    assert rows.grad is None
    torch.testing.assert_close(layer.weight.grad, torch.full((2, 3), 4.0))


def test_vectors_are_float32_outside_of_training(tmp_path: Path) -> None:
    encoder = load_transformer(tiny_model(tmp_path / "model"))
    network, ids = network_of(encoder), ids_of(encoder)
    expected, trained = network.encode(ids), network(ids).detach()
    multiply_in_bfloat16(network)
    assert sum(isinstance(layer, TrainedLinear) for layer in network.modules()) == 12
    np.testing.assert_array_equal(network.encode(ids), expected)
    difference = (network(ids).detach() - trained).abs().max()
    assert 0 < float(difference) < 0.1


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_both_precisions_learn(precision: str, tmp_path: Path) -> None:
    model, out = tiny_model(tmp_path / "model"), tmp_path / "out"
    settings = TuneSettings(**QUIET | {"epochs": 12, "precision": precision})
    result = tune_sentence(PAIRS, model, out, settings, dev=OWN, reporter=SilentReporter())
    assert result.difference is not None
    assert result.difference.verdict == "better"
    assert load_encoder(str(out)).encode("a fish").dtype == np.float32


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="choose one of auto, float32, bfloat16"):
        TuneSettings(precision="int8")  # type: ignore[arg-type]
