"""The decoder of TSDAE is a decoder of transformers with cross-attention to one vector."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import Tensor, nn

from malmoi.encode.checkpoint.weights import open_weights, read_weights, weights_file
from malmoi.encode.encoder import load_transformer
from malmoi.tune.adapt.masking import delete_units, find_units
from malmoi.tune.adapt.objectives.prediction_head import head_of
from malmoi.tune.adapt.objectives.tsdae import DenoisingAutoEncoder, TiedDecoder
from malmoi.tune.network.packing import pack
from malmoi.tune.network.sentence_network import SentenceNetwork
from tests.encode.checkpoints import TOKENS, save_model

TEXTS = ["the bank robbers, fishing.", "a river", "the river bank a fish a fish the bank"]


def objective_of(folder: Path) -> DenoisingAutoEncoder:
    torch.manual_seed(0)
    encoder = load_transformer(str(folder))
    file = weights_file(encoder.modules.transformer)
    network = SentenceNetwork(
        read_weights(file, encoder.config), encoder.config, encoder.modules, train_embeddings=True
    )
    head = head_of(network, open_weights(file), np.ones(len(TOKENS), np.float32))
    decoder = TiedDecoder(network, head, encoder.dim)
    passages = find_units(encoder.tokenizer(TEXTS), particles=False)
    return DenoisingAutoEncoder(network, decoder, 0.6, passages)


def their_decoder(folder: Path, ours: DenoisingAutoEncoder) -> Any:
    """A decoder whose shared weights are the encoder's, and whose others are ours."""
    config = transformers.AutoConfig.from_pretrained(
        folder, is_decoder=True, add_cross_attention=True, hidden_dropout_prob=0.0
    )
    model: Any = transformers.BertLMHeadModel(config).eval()
    encoder = transformers.BertModel.from_pretrained(folder, add_pooling_layer=False)
    model.bert.load_state_dict(encoder.state_dict(), strict=False)
    decoder, head = ours.extra, model.cls.predictions
    with torch.no_grad():
        for layer, cross, norm in zip(
            model.bert.encoder.layer, decoder.cross, decoder.norms, strict=True
        ):
            assert isinstance(cross, nn.Linear)
            attention = layer.crossattention
            attention.self.value.weight.copy_(decoder.scale * cross.weight)
            attention.self.value.bias.zero_()
            attention.output.dense.weight.copy_(torch.eye(config.hidden_size))
            attention.output.dense.bias.copy_(cross.bias)
            attention.output.LayerNorm.load_state_dict(norm.state_dict())
        head.transform.dense.load_state_dict(decoder.head.dense.state_dict())
        head.transform.LayerNorm.weight.copy_(decoder.head.norm_weight)
        head.transform.LayerNorm.bias.copy_(decoder.head.norm_bias)
        head.decoder.weight.copy_(ours.network.embeddings["word_embeddings"])
        head.decoder.bias.copy_(decoder.head.bias)
        head.bias.copy_(decoder.head.bias)
    return model


def test_loss_and_gradients_are_those_of_a_decoder_with_cross_attention(tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    ours = objective_of(tmp_path)
    model, random = their_decoder(tmp_path, ours), np.random.default_rng(2)
    noisy = [delete_units(passage, 0.6, random) for passage in ours.passages]
    whole = [passage.ids for passage in ours.passages]
    losses = ours.restored_losses(noisy, whole)
    vectors = ours.network(noisy)
    theirs: list[Tensor] = []
    for ids, vector in zip(whole, vectors.detach(), strict=True):
        scores = model(
            torch.from_numpy(ids[:-1].astype(np.int64))[None],
            encoder_hidden_states=vector[None, None],
        ).logits[0]
        labels = torch.from_numpy(ids[1:].astype(np.int64))
        theirs.append(nn.functional.cross_entropy(scores, labels, reduction="none"))
    torch.testing.assert_close(losses, torch.cat(theirs), atol=1e-5, rtol=1e-5)

    losses.mean().backward()  # type: ignore[no-untyped-call]
    torch.cat(theirs).mean().backward()  # type: ignore[no-untyped-call]
    cross = ours.extra.cross[0].weight.grad
    expected = model.bert.encoder.layer[0].crossattention.self.value.weight.grad
    assert isinstance(cross, Tensor)
    scale = float(expected.abs().max())
    torch.testing.assert_close(cross, ours.extra.scale * expected, atol=1e-3 * scale, rtol=1e-4)


def test_the_vector_of_the_noisy_text_gets_gradients(tmp_path: Path) -> None:
    """The encoder learns through the vector alone: without decoder layers it still learns."""
    save_model(tmp_path, "bert")
    ours = objective_of(tmp_path)
    ids = [ours.passages[0].ids]
    vector = ours.network(ids).detach().requires_grad_()
    ours.extra(ours.network, pack(ids, ours.network.config), vector).square().sum().backward()
    assert vector.grad is not None
    assert float(vector.grad.abs().max()) > 0


def test_no_token_sees_those_after_it(tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    ours = objective_of(tmp_path)
    ids, vector = ours.passages[2].ids, torch.ones(1, 32)
    changed = ids.copy()
    changed[-2:] = ids[1]
    scores = [
        ours.extra(ours.network, pack([each], ours.network.config), vector)
        for each in (ids, changed)
    ]
    torch.testing.assert_close(scores[0][:-2], scores[1][:-2])
    with pytest.raises(AssertionError):
        torch.testing.assert_close(scores[0], scores[1])
