"""The network for training is that of transformers: hidden states, vectors and gradients."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import Tensor

from malmoi.encode.checkpoint.weights import BERT, read_weights, weights_file
from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.tune.network.packing import pack
from malmoi.tune.network.sentence_network import SentenceNetwork, TransformerLayer, length_batches
from tests.encode.checkpoints import FAMILIES, change, save_model

pytestmark = pytest.mark.filterwarnings("ignore:.*unknown")  # so few are known
TEXTS = [
    "the bank robbers, fishing.",
    "a",
    "the river bank",
    "a fish a fish a fish a fish",
    "한국어",
]


def network_of(encoder: TransformerEncoder, **options: Any) -> SentenceNetwork:
    weights = read_weights(weights_file(encoder.modules.transformer), encoder.config)
    return SentenceNetwork(weights, encoder.config, encoder.modules, **options)


def ids_of(encoder: TransformerEncoder, texts: list[str] = TEXTS) -> list[Any]:
    return [tokenized.ids for tokenized in encoder.tokenizer(texts)]


def their_states(model: Any, ids: list[Any], output: int = -1) -> list[Tensor]:
    """The hidden states of each text alone, without padding."""
    feeds = [torch.tensor(text)[None].long() for text in ids]
    return [model(feed, output_hidden_states=True).hidden_states[output][0] for feed in feeds]


@pytest.mark.parametrize("family", list(FAMILIES))
def test_hidden_states_and_gradients_of_every_family(family: str, tmp_path: Path) -> None:
    model = save_model(tmp_path, family)
    encoder = load_transformer(str(tmp_path))
    network, ids = network_of(encoder, train_embeddings=True), ids_of(encoder)
    packed = pack(ids, encoder.config)
    states = network.hidden_states(packed)
    assert len(states) == encoder.config.num_states
    for number, state in enumerate(states):
        torch.testing.assert_close(
            state, torch.cat(their_states(model, ids, number)), atol=1e-5, rtol=0
        )

    direction = torch.randn(states[-1].shape, generator=torch.Generator().manual_seed(1))
    (states[-1] * direction).sum().backward()  # type: ignore[no-untyped-call]
    (torch.cat(their_states(model, ids)) * direction).sum().backward()  # type: ignore[no-untyped-call]
    theirs = {name: weight.grad for name, weight in model.named_parameters()}
    word = next(grad for name, grad in theirs.items() if name.endswith("word_embeddings.weight"))
    known = torch.arange(len(word)) != model.config.pad_token_id  # whose row they never train
    ours_of_words = network.embeddings["word_embeddings"].grad
    assert ours_of_words is not None
    pairs: list[tuple[Any, Any]] = [(ours_of_words[known], word[known])]
    if family not in ("distilbert", "mpnet"):
        for number, layer in enumerate(network.layers):
            assert isinstance(layer, TransformerLayer)
            names = [BERT[role].format(number) for role in ("query", "key", "value")]
            joined = torch.cat([theirs[f"{name}.weight"] for name in names])
            pairs.append((layer.qkv.weight.grad, joined))
            pairs.append(
                (layer.ffn_up.weight.grad, theirs[f"{BERT['ffn_up'].format(number)}.weight"])
            )
    if family == "mpnet":
        bias = network.embeddings["relative_position_bias"].grad
        pairs.append((bias, theirs["encoder.relative_attention_bias.weight"]))
    for ours, expected in pairs:
        scale = float(expected.abs().max())
        torch.testing.assert_close(ours, expected, atol=1e-4 * scale, rtol=1e-4)


def test_minilm_has_the_states_of_transformers_and_the_vectors_of_the_encoder() -> None:
    encoder = load_transformer("minilm")
    network, ids = network_of(encoder), ids_of(encoder)
    model = transformers.AutoModel.from_pretrained(encoder.modules.transformer).eval()
    with torch.no_grad():
        states = network.hidden_states(pack(ids, encoder.config))[-1]
        torch.testing.assert_close(states, torch.cat(their_states(model, ids)), atol=1e-5, rtol=0)
    np.testing.assert_allclose(network.encode(ids), encoder.encode(TEXTS), atol=1e-6)


@pytest.mark.parametrize(
    "modes",
    [
        {"pooling_mode_cls_token": True, "pooling_mode_max_tokens": True},
        {"pooling_mode_mean_sqrt_len_tokens": True, "pooling_mode_lasttoken": True},
    ],
)
def test_every_pooling_is_that_of_the_encoder(modes: dict[str, bool], tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling/config.json").write_text(
        json.dumps({"pooling_mode_mean_tokens": False, **modes})
    )
    types = [("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")]
    modules = [{"type": f"sentence_transformers.models.{t}", "path": path} for t, path in types]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    encoder = load_transformer(str(tmp_path))
    ours = network_of(encoder).encode(ids_of(encoder))
    np.testing.assert_allclose(ours, encoder.encode(TEXTS), atol=2e-6)


def test_frozen_layers_have_the_same_output_from_a_cache_and_no_gradient(tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    encoder = load_transformer(str(tmp_path))
    network, ids = network_of(encoder, freeze_layers=2, train_embeddings=True), ids_of(encoder)
    states = network.frozen_states(ids)
    torch.testing.assert_close(network(ids, states), network_of(encoder)(ids), atol=1e-6, rtol=0)
    network(ids, states).sum().backward()
    trained = {name for name, weight in network.named_parameters() if weight.grad is not None}
    assert trained
    assert all(name.startswith("layers.2.") for name in trained)


def test_weights_come_out_as_they_went_in(tmp_path: Path) -> None:
    save_model(tmp_path, "electra")
    encoder = load_transformer(str(tmp_path))
    expected = read_weights(weights_file(tmp_path), encoder.config)
    ours = network_of(encoder).weights()
    assert ours.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(ours[name], array)


def test_padding_inside_a_text_of_roberta_is_not_counted(tmp_path: Path) -> None:
    model = save_model(tmp_path, "roberta")
    encoder = load_transformer(str(tmp_path))
    ids = [np.array([0, 5, 1, 6, 1, 1, 7, 2], np.int32), np.array([0, 1, 2], np.int32)]
    with torch.no_grad():
        ours = network_of(encoder).hidden_states(pack(ids, encoder.config))[0]
        torch.testing.assert_close(ours, torch.cat(their_states(model, ids, 0)), atol=1e-6, rtol=0)


def test_dropout_changes_training_alone(tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    change(tmp_path / "config.json", hidden_dropout_prob=0.5)
    encoder = load_transformer(str(tmp_path))
    network, ids = network_of(encoder, dropout=0.5), ids_of(encoder)
    network.train()
    assert not torch.equal(network(ids), network(ids))
    np.testing.assert_array_equal(network.encode(ids), network.encode(ids))
    assert network.training


def test_batches_of_similar_length_hold_every_text_once() -> None:
    batches = length_batches([9, 2, 5, 2, 40, 7], 20)
    assert batches == [[1, 3, 2], [5, 0], [4]]
    assert length_batches([], 20) == []
