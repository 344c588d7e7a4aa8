"""TSDAE (Wang et al. 2021): a decoder restores a text from the vector of what is left of it.

Most words of a text are deleted, and the rest becomes one vector. A decoder predicts each token
of the whole text from those before it and from that vector. The decoder has the layers of the
encoder, with the same weights, and between attention and feed-forward network cross-attention to
the vector. Attention to a single key is always 1, so that this is a linear map of the vector. The
vector is the model's own, with its own pooling: the one that is compared and searched later.
"""

from collections.abc import Sequence
from math import sqrt

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from malmoi.arrays import Int32Array
from malmoi.tune.adapt.masking import Passage, delete_units
from malmoi.tune.adapt.objectives.prediction_head import PredictionHead
from malmoi.tune.adapt.trainer import CorpusBatch
from malmoi.tune.network.packing import PackedTexts, pack
from malmoi.tune.network.sentence_network import SentenceNetwork, TransformerLayer

INITIAL_DEVIATION = 0.02  # of the cross-attention's weights


class TiedDecoder(nn.Module):
    """What a decoder has beside the encoder's layers: cross-attention, and the head."""

    def __init__(self, network: SentenceNetwork, head: PredictionHead, vector_dim: int) -> None:
        super().__init__()
        config = network.config
        self.head, self.scale = head, sqrt(vector_dim)
        self.cross = nn.ModuleList(nn.Linear(vector_dim, config.dim) for _ in network.layers)
        self.norms = nn.ModuleList(
            nn.LayerNorm(config.dim, eps=config.epsilon) for _ in network.layers
        )
        for layer, cross, norm in zip(network.layers, self.cross, self.norms, strict=True):
            assert isinstance(layer, TransformerLayer)
            nn.init.normal_(cross.weight, std=INITIAL_DEVIATION)  # type: ignore[arg-type]
            nn.init.zeros_(cross.bias)  # type: ignore[arg-type]
            norm.load_state_dict(layer.attn_norm.state_dict())  # nearly changes nothing

    def forward(self, network: SentenceNetwork, texts: PackedTexts, vectors: Tensor) -> Tensor:
        """Scores [tokens, vocabulary] of the token after each; `vectors` are one per text."""
        bias, rows = causal_bias(network, texts), network.embed(texts)
        for layer, cross, norm in zip(network.layers, self.cross, self.norms, strict=True):
            assert isinstance(layer, TransformerLayer)
            rows = layer.attention(rows, texts, bias)
            rows = norm(rows + cross(self.scale * vectors)[texts.owners])
            rows = layer.feed_forward(rows)
        scores: Tensor = self.head(rows, network.embeddings["word_embeddings"])
        return scores


class DenoisingAutoEncoder:
    """The loss of passages whose words are deleted anew in each epoch."""

    def __init__(
        self,
        network: SentenceNetwork,
        decoder: TiedDecoder,
        delete_share: float,
        passages: Sequence[Passage],
    ) -> None:
        self.network, self.extra, self.passages = network, decoder, passages
        self.delete_share = delete_share

    def loss(self, batch: CorpusBatch) -> Tensor:
        """The mean cross-entropy of all tokens of a batch but the first of each text."""
        losses, _ = self.token_losses([self.passages[i] for i in batch.rows], batch.random())
        return losses.mean()

    def token_losses(
        self, passages: Sequence[Passage], random: np.random.Generator
    ) -> tuple[Tensor, list[int]]:
        """The cross-entropy of each token, and the number of them per passage."""
        noisy = [delete_units(passage, self.delete_share, random) for passage in passages]
        whole = [passage.ids for passage in passages]
        return self.restored_losses(noisy, whole), [len(ids) - 1 for ids in whole]

    def restored_losses(self, noisy: Sequence[Int32Array], whole: Sequence[Int32Array]) -> Tensor:
        """The cross-entropy of the tokens of whole texts, given vectors of the noisy ones."""
        inputs = pack([ids[:-1] for ids in whole], self.network.config)
        scores = self.extra(self.network, inputs, self.network(noisy))
        labels = np.concatenate([ids[1:] for ids in whole]).astype(np.int64)
        return functional.cross_entropy(scores, torch.from_numpy(labels), reduction="none")


def causal_bias(network: SentenceNetwork, texts: PackedTexts) -> Tensor:
    """The bias of attention scores, in which no token sees those after it."""
    size = texts.longest
    later = torch.full((size, size), -torch.inf).triu(1)
    bias = network.attention_bias(texts)
    return later[None, None] if bias is None else bias + later
