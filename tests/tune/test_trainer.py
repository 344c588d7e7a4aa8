"""One step: gradient caching changes nothing but the memory."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from malmoi.encode.encoder import load_transformer
from malmoi.models.nnlm_network import repeatable
from malmoi.reporting.reporter import SilentReporter
from malmoi.train.common.loop import learning_rate_factor
from malmoi.tune.data.batches import ExampleBatch
from malmoi.tune.data.examples import read_examples
from malmoi.tune.data.numbering import number_data
from malmoi.tune.sentence.settings import TuneSettings
from malmoi.tune.sentence.tuning import new_trainer
from tests.tune.worlds import QUIET, scored_pairs, tiny_model


@pytest.mark.parametrize("changes", [{"objective": "multiple_negatives"}, {"freeze_layers": 1}])
@pytest.mark.parametrize("columns", [2, 3])
def test_gradient_caching_gives_the_same_gradients(
    columns: int, changes: dict[str, Any], tmp_path: Path
) -> None:
    pairs = scored_pairs(13)
    rows = [(one, other, pairs[i - 1][0])[:columns] for i, (one, other, _) in enumerate(pairs)]
    encoder = load_transformer(tiny_model(tmp_path / "model"))
    examples = [read_examples(rows, reporter=SilentReporter())]
    data = number_data(encoder, examples, None, None, SilentReporter())
    gradients, losses = [], []
    for size in (None, 4):
        settings = TuneSettings(**QUIET | changes | {"mini_batch_size": size})
        with repeatable(1, 1):
            trainer = new_trainer(encoder, examples, data, settings)
            trainer.cache_states(SilentReporter())
            losses.append(trainer.backward(ExampleBatch(0, np.arange(13))))
        gradients.append([weight.grad for weight in trainer.parameters.values()])
    assert losses[0] == pytest.approx(losses[1], abs=1e-6)
    for whole, cached in zip(*gradients, strict=True):
        assert whole is not None
        torch.testing.assert_close(whole, cached, atol=1e-6, rtol=1e-4)


def test_gradient_caching_repeats_the_same_dropout(tmp_path: Path) -> None:
    """A step on one part with dropout is the same whether its activations are kept or not."""
    encoder = load_transformer(tiny_model(tmp_path / "model"))
    examples = [read_examples(scored_pairs(8), "cosine", reporter=SilentReporter())]
    data = number_data(encoder, examples, None, None, SilentReporter())
    settings = TuneSettings(**QUIET | {"dropout": 0.3, "mini_batch_size": 4})
    with repeatable(1, 1):
        trainer = new_trainer(encoder, examples, data, settings)
        vectors = []
        run = trainer._run
        trainer._run = lambda numbers: vectors.append(run(numbers)) or vectors[-1]  # type: ignore[method-assign,func-returns-value]
        trainer.step(ExampleBatch(0, np.arange(8)), 0.0)
    assert len(vectors) == 4
    for first, second in zip(vectors[:2], vectors[2:], strict=True):
        torch.testing.assert_close(first, second.detach())


def test_the_learning_rate_rises_and_falls() -> None:
    factors = [learning_rate_factor(done, 0.1) for done in (0.0, 0.05, 0.1, 0.55, 1.0)]
    np.testing.assert_allclose(factors, [0.01, 0.51, 1.0, 0.5, 0.0])
    assert learning_rate_factor(0.0, 0.0) == 1.0
