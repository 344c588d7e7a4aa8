"""Contrastive learning on raw text: a query made from a document should find its document.

The targets of a query are not its own document alone, but a softmax over all texts of the batch:
their cosines by the untouched model plus their BM25. So the model keeps what it knows, learns the
words of the domain, and texts that fit a query as well are not pushed away.
"""

from collections.abc import Sequence
from copy import deepcopy
from random import Random

import torch
from torch import Tensor, nn
from torch.nn import functional

from malmoi.arrays import Float32Array, Int32Array
from malmoi.encode.encoder import TransformerEncoder
from malmoi.reporting.reporter import Reporter
from malmoi.tune.adapt.documents import Document
from malmoi.tune.adapt.objectives.lexical_teacher import LexicalTeacher
from malmoi.tune.adapt.objectives.pairs import make_pair
from malmoi.tune.adapt.passages import tokenize, truncated
from malmoi.tune.adapt.settings import AdaptSettings
from malmoi.tune.adapt.trainer import CorpusBatch
from malmoi.tune.network.sentence_network import SentenceNetwork

HEAD_CHARACTERS = 200
LARGEST_SEED = 2**62


class ContrastiveDocuments:
    """The loss of pairs that are made anew in each epoch, with all texts of a batch as choices."""

    def __init__(
        self,
        encoder: TransformerEncoder,
        network: SentenceNetwork,
        documents: Sequence[Document],
        settings: AdaptSettings,
    ) -> None:
        self.encoder, self.network, self.documents = encoder, network, documents
        self.settings, self.extra = settings, nn.Module()
        self.teacher = LexicalTeacher([document.whole for document in documents])
        self.untouched = deepcopy(network).eval().requires_grad_(False)

    def document_vectors(self, reporter: Reporter) -> Float32Array:
        """Vectors by which documents are grouped: of their titles, or of how they begin."""
        heads = [document.title or document.text[:HEAD_CHARACTERS] for document in self.documents]
        return self.encoder.encode(heads, normalize=True, reporter=reporter)

    def loss(self, batch: CorpusBatch) -> Tensor:
        """The cross-entropy of the model's softmax with that of the targets."""
        random = Random(int(batch.random().integers(LARGEST_SEED)))
        pairs = [make_pair(self.documents[i], random) for i in batch.rows]
        queries, texts = [pair.query for pair in pairs], [pair.text for pair in pairs]
        ids = self._tokens(queries + texts)
        lexical = torch.from_numpy(self.teacher.scores(queries, texts))
        with torch.no_grad():
            known = self._cosines(self.untouched, ids)
            targets = functional.softmax(
                self.settings.scale * known + self.settings.lexical * lexical, dim=1
            )
        cosines = self._cosines(self.network, ids)
        return functional.cross_entropy(self.settings.scale * cosines, targets)

    def _cosines(self, network: SentenceNetwork, ids: Sequence[Int32Array]) -> Tensor:
        """[queries, texts]; the first half of `ids` are the queries."""
        vectors = functional.normalize(network(ids), dim=1)
        queries, texts = torch.split(vectors, len(ids) // 2)
        return queries @ texts.T

    def _tokens(self, texts: Sequence[str]) -> list[Int32Array]:
        limit = min(self.settings.max_tokens, self.encoder.tokenizer.max_length)
        return [truncated(ids, limit) for ids in tokenize(self.encoder, texts)]
