"""Search: by meaning, by words and by both on three sets."""

import time
from collections.abc import Iterable, Iterator

import numpy as np

from bench.data import Data
from bench.measure import Figure, say
from bench.search_sets import Questions, paragraphs, paraphrases
from bench.text import CORPORA
from malmoi.arrays import Float32Array
from malmoi.encode.loading import load_encoder
from malmoi.encode.protocol import Encoder
from malmoi.evaluate.retrieval import (
    RetrievalScores,
    evaluate_retrieval,
    load_beir,
    score_retrieval,
)
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.search.build import build_index
from malmoi.search.entries import RecordSource
from malmoi.search.learn_weight import learn_weight
from malmoi.search.storage.entry import Entry
from malmoi.vectors import l2_normalize

SCIFACT = CORPORA.parent / "scifact"
PARAKQC = CORPORA.parent / "parakqc" / "paraKQC_v1.txt"
K, POINTS = 10, 0.5


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part; none where the sets are not there."""
    if not SCIFACT.is_dir():
        say(f"no {SCIFACT} (set MALMOI_DATA): quality is left out")
        return
    encoder = load_encoder("use")
    yield from answered("paraKQC top-1", encoder, paraphrases(PARAKQC), 1, 0.0)
    yield from answered("kowiki MRR@10", encoder, paragraphs(CORPORA / "kowiki.txt.gz"), K, POINTS)
    yield from scifact()


def answered(
    name: str, encoder: Encoder, asked: Questions, k: int, slack: float
) -> Iterator[Figure]:
    """The mean reciprocal rank of the texts that answer questions, each way of searching."""
    say(f"{name}: {len(asked.texts):,} texts, {len(asked.queries):,} questions")
    start = time.perf_counter()
    index = build_index(encoder, asked.texts)
    vectors, built = encoder.encode(asked.queries), time.perf_counter()
    learn_weight(index.state, encoder)
    learning = time.perf_counter() - built

    def score(*, lexical: bool = False, hybrid: bool = False) -> float:
        ranks = []
        for query, vector, row in zip(asked.queries, vectors, asked.wanted, strict=True):
            hits = index.search(query, k, lexical=lexical, hybrid=hybrid, vector=vector)
            found = [hit.id for hit in hits]
            ranks.append(1 / (1 + found.index(str(row))) if str(row) in found else 0.0)
        return 100 * float(np.mean(ranks))

    meaning, words, both = score(), score(lexical=True), score(hybrid=True)
    yield Figure(name=f"{name}, use", ours=f"{meaning:.1f}")
    yield Figure(name=f"{name}, BM25", ours=f"{words:.1f}")
    yield Figure(
        name=f"{name}, hybrid",
        ours=f"{both:.1f}",
        peer=f"{max(meaning, words):.1f}",
        asked=f"≥ −{slack:g}" if slack else "≥",
        met=both >= max(meaning, words) - slack,
        remark=f"{name}: words weigh {index.state.weight:.2f}, learnt in {learning:.1f} s;"
        f" embedded in {built - start:.0f} s.",
    )


def scifact() -> Iterator[Figure]:
    """nDCG@10 of the train queries."""
    test = load_beir(SCIFACT, "train")
    entries = abstracts()
    say(f"embedding {len(entries):,} abstracts")
    encoder = Remembering(load_encoder("minilm"))
    ids = [entry.id for entry in entries]
    index = build_index(encoder, [entry.text for entry in entries], ids=ids)  # long ones cut off

    def brute_force(query: str) -> list[str]:
        (direction,) = encoder.encode([query])
        return [ids[row] for row in np.argsort(-(l2_normalize(encoder.largest) @ direction))[:K]]

    say(f"{len(test.queries):,} queries, four ways")
    exact, brute = evaluate_retrieval(index, test, K), score_retrieval(brute_force, test, K)
    words = evaluate_retrieval(index, test, K, lexical=True)
    both = evaluate_retrieval(index, test, K, hybrid=True)
    off = 100 * abs(points(exact) - points(brute))
    yield Figure(
        name="SciFact nDCG@10, exact",
        ours=shown(exact),
        peer=shown(brute),
        off=off,
        asked=f"≤ {POINTS} points",
        met=off <= POINTS,
        remark="The peer of exact search is brute force in NumPy, of hybrid the better part;"
        f" {exact.ndcg.answered:,} train queries, 95 % intervals "
        + ", ".join(f"{s.ndcg.low:.3f}–{s.ndcg.high:.3f}" for s in (exact, words, both)),
    )
    yield Figure(name="SciFact nDCG@10, BM25", ours=shown(words))
    best = max(exact, words, key=points)
    better = points(both) >= points(best)
    yield Figure(
        name="SciFact nDCG@10, hybrid",
        ours=shown(both),
        peer=shown(best),
        asked="≥",
        met=better,
        remark=f"SciFact: words weigh {index.state.weight:.2f}.",
    )


def abstracts() -> list[Entry]:
    """The texts of SciFact."""
    source = RecordSource(text=("title", "text"), id="_id")
    return source.entries(SCIFACT / "corpus.jsonl.gz")


class Remembering:
    """An encoder that keeps the largest matrix it has made, so that nothing is embedded twice."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder, self.name, self.dim = encoder, encoder.name, encoder.dim
        self.largest = np.empty((0, encoder.dim), np.float32)
        self.stream = encoder.stream

    def encode(
        self, texts: Iterable[str], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Float32Array:
        made = self.encoder.encode(texts, reporter=reporter)
        self.largest = max(self.largest, made, key=len)
        return made


def points(scores: RetrievalScores) -> float:
    return scores.ndcg.value or 0.0


def shown(scores: RetrievalScores) -> str:
    return f"{100 * points(scores):.1f}"
