"""Masked-language modelling (Devlin et al. 2019): predict masked words from their context.

Only the masked tokens go through the head, whose last layer has as many rows as the vocabulary.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from malmoi.tune.adapt.masking import MaskedText, Masking, Passage
from malmoi.tune.adapt.objectives.prediction_head import PredictionHead
from malmoi.tune.adapt.trainer import CorpusBatch
from malmoi.tune.network.packing import pack
from malmoi.tune.network.sentence_network import SentenceNetwork


class MaskedLanguageModel:
    """The loss of passages that are masked anew in each epoch."""

    def __init__(
        self,
        network: SentenceNetwork,
        head: PredictionHead,
        masking: Masking,
        passages: Sequence[Passage],
    ) -> None:
        self.network, self.extra, self.masking, self.passages = network, head, masking, passages

    def loss(self, batch: CorpusBatch) -> Tensor:
        """The mean cross-entropy of the masked tokens of a batch."""
        losses, _ = self.token_losses([self.passages[i] for i in batch.rows], batch.random())
        return losses.mean()

    def token_losses(
        self, passages: Sequence[Passage], random: np.random.Generator
    ) -> tuple[Tensor, list[int]]:
        """The cross-entropy of each masked token, and the number of them per passage."""
        masked = [self.masking(passage, random) for passage in passages]
        return self.masked_losses(masked), [len(text.positions) for text in masked]

    def masked_losses(self, texts: Sequence[MaskedText]) -> Tensor:
        """The cross-entropy of each masked token."""
        packed = pack([text.ids for text in texts], self.network.config)
        starts = np.cumsum([0, *(len(text.ids) for text in texts[:-1])])
        each = [start + text.positions for start, text in zip(starts, texts, strict=True)]
        rows = self.network.hidden_states(packed)[-1][torch.from_numpy(np.concatenate(each))]
        scores = self.extra(rows, self.network.embeddings["word_embeddings"])
        labels = torch.from_numpy(np.concatenate([text.labels for text in texts]))
        return functional.cross_entropy(scores, labels, reduction="none")
