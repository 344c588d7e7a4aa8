"""Translating the vectors of an index: nDCG@10 on SciFact, by the share of texts embedded.

The train queries are encoded by the new model; the abstracts are translated from the old one by a
map that was fitted on a sample. Exact search.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from bench.data import Data
from bench.measure import Figure, say
from bench.retrieval import SCIFACT, abstracts
from malmoi.arrays import Float32Array
from malmoi.encode.loading import load_encoder
from malmoi.evaluate.retrieval import RetrievalSet, load_beir, ndcg
from malmoi.search.reindex.linear_map import fit_map, neighbour_recall
from malmoi.vectors import l2_normalize

K, SEED = 10, 1
SHARES, ASKED_SHARE, ASKED = (0.02, 0.03, 0.06, 0.2), 0.03, 95.0
MODELS = ("minilm", "use")


def run(data: Data) -> Iterator[Figure]:
    """Both directions; nothing where SciFact is not there."""
    if not SCIFACT.is_dir():
        say(f"no {SCIFACT} (set MALMOI_DATA): translation is left out")
        return
    test, entries = load_beir(SCIFACT, "train"), abstracts()
    ids, texts = [entry.id for entry in entries], [entry.text for entry in entries]
    documents, queries = dict[str, Float32Array](), dict[str, Float32Array]()
    for name in MODELS:
        say(f"embedding {len(texts):,} abstracts with {name}")
        encoder = load_encoder(name)
        documents[name], queries[name] = (
            encoder.encode(texts),
            encoder.encode(list(test.queries.values())),
        )
    for old, new in (MODELS, MODELS[::-1]):
        yield from translated(
            documents[old], documents[new], queries[new], test, ids, f"{old} → {new}"
        )


def translated(
    old: Float32Array,
    new: Float32Array,
    queries: Float32Array,
    test: RetrievalSet,
    ids: Sequence[str],
    name: str,
) -> Iterator[Figure]:
    """The share of the new model's nDCG that translated vectors keep, by size of the sample."""
    whole = score(queries, new, test, ids)
    for share in SHARES:
        count = round(share * len(old))
        rows = np.random.default_rng(SEED).choice(len(old), count, replace=False)
        fitted = fit_map(old[rows], new[rows])
        kept = score(queries, fitted.map(old), test, ids)
        recall = neighbour_recall(new[rows], fitted.held_out)
        asked = share == ASKED_SHARE
        yield Figure(
            name=f"{name}, {share:.0%} embedded",
            ours=f"{kept:.1f}",
            peer=f"{whole:.1f}",
            asked=f"≥ {ASKED:g} %" if asked else "",
            met=kept >= ASKED / 100 * whole if asked else None,
            remark=f"{name}: nDCG@10 of {len(test.queries):,} train queries with a map from"
            f" {count:,} texts, {kept / whole:.1%} of that of the new model (the peer); recall@10"
            f" measured on those texts {recall:.2f}.",
        )


def score(
    queries: Float32Array, documents: Float32Array, test: RetrievalSet, ids: Sequence[str]
) -> float:
    """nDCG@10 of exact search, in percent."""
    order = np.argsort(-(l2_normalize(queries) @ l2_normalize(documents).T), axis=1)[:, :K]
    found = ([ids[i] for i in rows] for rows in order.tolist())
    judged = (test.relevant[name] for name in test.queries)
    return 100 * float(
        np.mean([ndcg(each, wanted, K) for each, wanted in zip(found, judged, strict=True)])
    )
