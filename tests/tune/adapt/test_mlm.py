"""The loss of masked tokens and its gradients are those of transformers; heads, new or read."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from malmoi.encode.checkpoint.weights import BERT, open_weights, read_weights, weights_file
from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.tune.adapt.masking import MaskedText, find_units
from malmoi.tune.adapt.objectives.mlm import MaskedLanguageModel
from malmoi.tune.adapt.objectives.prediction_head import head_of
from malmoi.tune.adapt.passages import make_masking
from malmoi.tune.adapt.trainer import CorpusBatch
from malmoi.tune.network.sentence_network import SentenceNetwork, TransformerLayer
from tests.encode.checkpoints import FAMILIES, TOKENS, save_tokenizer
from tests.tune.worlds import tiny_model

IGNORED = -100  # as a label, by transformers
TEXTS = ["the bank robbers, fishing.", "a river", "the river bank a fish a fish the bank"]


def save_masked_model(folder: Path, family: str) -> Any:
    """A model with its head, random weights, saved by transformers."""
    torch.manual_seed(7)
    config = transformers.AutoConfig.for_model(family, **FAMILIES[family])
    model = transformers.AutoModelForMaskedLM.from_config(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.1 * torch.randn_like(weight)
    model.save_pretrained(folder)
    save_tokenizer(folder)
    return model


def objective_of(encoder: TransformerEncoder) -> MaskedLanguageModel:
    file = weights_file(encoder.modules.transformer)
    network = SentenceNetwork(
        read_weights(file, encoder.config), encoder.config, encoder.modules, train_embeddings=True
    )
    head = head_of(network, open_weights(file), np.ones(len(TOKENS), np.float32))
    passages = find_units(encoder.tokenizer(TEXTS), particles=False)
    return MaskedLanguageModel(network, head, make_masking(encoder, 0.3), passages)


def their_loss(model: Any, texts: list[MaskedText]) -> Any:
    """The mean over all masked tokens; each text alone, without padding."""
    losses = []
    for text in texts:
        labels = np.full(len(text.ids), IGNORED)
        labels[text.positions] = text.labels
        scores = model(torch.from_numpy(text.ids.astype(np.int64))[None]).logits[0]
        loss = torch.nn.functional.cross_entropy(
            scores, torch.from_numpy(labels), ignore_index=IGNORED, reduction="none"
        )
        losses.append(loss[torch.from_numpy(text.positions)])
    return torch.cat(losses).mean()


@pytest.mark.parametrize("family", list(FAMILIES))
def test_loss_and_gradients_are_those_of_transformers(family: str, tmp_path: Path) -> None:
    model = save_masked_model(tmp_path, family)
    objective = objective_of(load_transformer(str(tmp_path)))
    random = np.random.default_rng(3)
    texts = [objective.masking(passage, random) for passage in objective.passages]
    ours, theirs = objective.masked_losses(texts).mean(), their_loss(model, texts)
    assert ours.item() == pytest.approx(theirs.item(), abs=1e-5)
    ours.backward()  # type: ignore[no-untyped-call]
    theirs.backward()
    named = {name: weight.grad for name, weight in model.named_parameters(remove_duplicate=False)}
    word, table = model.get_input_embeddings().weight.grad, objective.network.embeddings
    words = table["word_embeddings"].grad
    assert words is not None
    known = torch.arange(len(word)) != model.config.pad_token_id  # which they do not train
    names = objective.extra.names
    pairs = [
        (words[known], word[known]),
        (objective.extra.dense.weight.grad, named[f"{names.dense}.weight"]),
        (objective.extra.norm_weight.grad, named[f"{names.norm}.weight"]),
        (objective.extra.bias.grad, named[names.bias]),
    ]
    if family == "bert":
        layer = objective.network.layers[0]
        assert isinstance(layer, TransformerLayer)
        pairs.append((layer.ffn_up.weight.grad, named[f"bert.{BERT['ffn_up'].format(0)}.weight"]))
    for gradient, expected in pairs:
        assert gradient is not None
        assert expected is not None
        scale = float(expected.abs().max())
        torch.testing.assert_close(gradient, expected, atol=1e-4 * scale, rtol=1e-4)


def test_a_new_head_predicts_about_as_well_as_the_frequencies(tmp_path: Path) -> None:
    encoder = load_transformer(tiny_model(tmp_path / "model"))
    objective = objective_of(encoder)
    np.testing.assert_allclose(
        objective.extra.bias.detach().numpy(),
        np.log(np.full(len(TOKENS), 1 / len(TOKENS))),
        rtol=1e-5,
    )
    rows = torch.zeros(1, encoder.config.dim)
    scores = objective.extra(rows, objective.network.embeddings["word_embeddings"])
    torch.testing.assert_close(scores[0], objective.extra.bias)


def test_batches_are_masked_anew_in_each_epoch_and_always_the_same(tmp_path: Path) -> None:
    objective = objective_of(load_transformer(tiny_model(tmp_path / "model")))
    rows = np.arange(3)
    losses = [objective.loss(CorpusBatch(rows, (1, epoch, 0))).item() for epoch in (0, 0, 1)]
    assert losses[0] == losses[1]
    assert losses[0] != losses[2]
