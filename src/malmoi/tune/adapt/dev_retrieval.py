"""DevRetrieval: the dev score of an adaptation by search, nDCG@10 of exact search.

Texts are encoded by the network as it is, so that documents beyond a limit are left out: those
that are relevant for a query always stay. Knows nothing of torch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from malmoi.arrays import Float32Array, Int32Array
from malmoi.encode.encoder import TransformerEncoder
from malmoi.evaluate.retrieval import RetrievalSet, load_beir, ndcg
from malmoi.search.entries import RecordSource
from malmoi.search.storage.entry import Entry
from malmoi.train.common.loop import DevScore
from malmoi.tune.adapt.documents import beir_corpus
from malmoi.tune.adapt.passages import tokenize
from malmoi.vectors import l2_normalize

K = 10
SOURCE = RecordSource(text=("title", "text"), id="_id")


@dataclass(frozen=True, eq=False)
class DevRetrieval:
    """Queries and documents as token ids; `vectors` encodes texts as the network is now.

    The details of a score are the nDCG of each query.
    """

    test: RetrievalSet
    ids: list[str]
    documents: list[Int32Array]
    queries: list[Int32Array]
    total: int  # documents of the whole set
    vectors: Callable[[Sequence[Int32Array]], Float32Array]

    def measure(self) -> DevScore:
        """nDCG@10 now, the mean over all queries."""
        documents = l2_normalize(self.vectors(self.documents))
        queries = l2_normalize(self.vectors(self.queries))
        order = np.argsort(-(queries @ documents.T), axis=1, kind="stable")[:, :K]
        results = ([self.ids[i] for i in rows] for rows in order.tolist())
        judged = (self.test.relevant[name] for name in self.test.queries)
        gains = [ndcg(ids, relevant, K) for ids, relevant in zip(results, judged, strict=True)]
        return DevScore(float(np.mean(gains)), np.array(gains))

    def show(self, value: float) -> str:
        """nDCG@10 in percent."""
        return f"{100 * value:.2f}"

    @property
    def title(self) -> str:
        """What is searched."""
        some = f"{len(self.ids):,} of {self.total:,}" if len(self.ids) < self.total else "all"
        return f"{len(self.queries):,} queries, {some} documents"


def read_dev_retrieval(
    folder: Path,
    split: str,
    max_documents: int,
    encoder: TransformerEncoder,
    vectors: Callable[[Sequence[Int32Array]], Float32Array],
) -> DevRetrieval:
    """Read a BEIR folder; of more than `max_documents` documents, choose at random.

    Raises:
        InvalidFileError: A file is missing or damaged.
        InvalidArgumentError: No query has judgements.
    """
    test = load_beir(folder, split)
    judged = {
        name: text for name, text in test.queries.items() if any(test.relevant[name].values())
    }
    test = RetrievalSet(judged, test.relevant)
    entries = SOURCE.entries(beir_corpus(folder))
    some = _choose(entries, test, max_documents)
    return DevRetrieval(
        test,
        [entry.id for entry in some],
        tokenize(encoder, [entry.text for entry in some]),
        tokenize(encoder, list(judged.values())),
        len(entries),
        vectors,
    )


def _choose(entries: list[Entry], test: RetrievalSet, count: int) -> list[Entry]:
    """All relevant documents and others at random, in their order."""
    relevant = {id for name in test.queries for id, gain in test.relevant[name].items() if gain > 0}
    others = [entry.id for entry in entries if entry.id not in relevant]
    order = np.random.default_rng(0).permutation(len(others))[: max(0, count - len(relevant))]
    chosen = relevant | {others[i] for i in order}
    return [entry for entry in entries if entry.id in chosen]
