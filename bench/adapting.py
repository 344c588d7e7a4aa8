"""Adapting minilm to the abstracts of SciFact, and a Korean encoder to film reviews.

nDCG@10 is that of exact search in all abstracts, by the train queries, which no adaptation has
seen. Settings were chosen on the even queries; the odd ones are the figure to trust.
"""

import gzip
import os
import random
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench.data import Data
from bench.measure import Figure, say
from bench.retrieval import SCIFACT, abstracts
from bench.sentences import MODEL
from bench.text import CORPORA
from malmoi.arrays import Float64Array
from malmoi.encode.encoder import load_transformer
from malmoi.errors import MalmoiWarning
from malmoi.evaluate.retrieval import load_beir, ndcg
from malmoi.evaluate.scores import Score
from malmoi.evaluate.suites.differences import compare_means
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.adapt.adapting import adapt
from malmoi.tune.adapt.settings import AdaptSettings

K, ASKED_NDCG = 10, 67.0
CONTRASTIVE = AdaptSettings(max_tokens=128, learning_rate=5e-5, lexical=20.0, threads=1)
REVIEWS = CORPORA / "reviews_ko.txt.gz"
NSMC = CORPORA.parent / "nsmc" / "ratings_train.txt.gz"
KOREAN = "MALMOI_KOREAN"  # environment: the folder of an encoder that reads Korean
MASKED = AdaptSettings(
    method="mlm", max_documents=10_000, max_tokens=64, batch_size=64, learning_rate=1e-4,
    held_out=200, threads=1,
)  # fmt: skip
PROBED = 5000  # reviews to fit the probe on, and as many to test it


def run(data: Data) -> Iterator[Figure]:
    """Both adaptations; none where their data are not there."""
    warnings.simplefilter("ignore", MalmoiWarning)
    if SCIFACT.is_dir():
        yield from scifact(data.folder / "adapted")
    else:
        say(f"no {SCIFACT} (set MALMOI_DATA): SciFact is left out")
    model = os.environ.get(KOREAN)
    if model and REVIEWS.is_file():
        yield from reviews(model, data.folder / "reviews")
    else:
        say(f"no {KOREAN} (a folder made by malmoi tune extend): reviews are left out")


def scifact(out: Path) -> Iterator[Figure]:
    """nDCG@10 before and after, of all train queries and of the odd ones."""
    say(f"adapting {MODEL} to the abstracts of SciFact")
    start = time.process_time()
    adapt(SCIFACT, MODEL, out, CONTRASTIVE, reporter=SilentReporter())
    took = time.process_time() - start
    say(f"searching by {MODEL} as it was and as it is")
    before, after = gains(MODEL), gains(str(out))
    for name, rows in (("all queries", slice(None)), ("odd queries", slice(1, None, 2))):
        each = compare_means(before[rows], after[rows])
        old, new = (100 * values[rows].mean() for values in (before, after))
        yield Figure(
            name=f"SciFact nDCG@10, {name}",
            ours=f"{new:.1f}",
            peer=f"{old:.1f}",
            asked=f"≥ {ASKED_NDCG:g}" if name.startswith("all") else "",
            met=new >= ASKED_NDCG if name.startswith("all") else None,
            remark=f"{len(before[rows]):,} {name}: {each.verdict}, {100 * each.value:+.2f}"
            f" [{100 * each.low:+.2f}, {100 * each.high:+.2f}]; the peer is the untouched"
            f" {MODEL}; adapted in {took:.0f} CPU seconds.",
        )


def gains(model: str) -> Float64Array:
    """nDCG@10 of each train query, in integers."""
    test, entries = load_beir(SCIFACT, "train"), abstracts()
    encoder = load_transformer(f"{model}:quantized")
    documents = encoder.encode([entry.text for entry in entries], normalize=True)
    queries = encoder.encode(list(test.queries.values()), normalize=True)
    order = np.argsort(-(queries @ documents.T), axis=1)[:, :K]
    found = ([entries[i].id for i in rows] for rows in order.tolist())
    judged = (test.relevant[name] for name in test.queries)
    return np.array([ndcg(ids, each, K) for ids, each in zip(found, judged, strict=True)])


def reviews(model: str, out: Path) -> Iterator[Figure]:
    """Perplexity of reviews, and a linear probe of their labels, before and after."""
    say(f"adapting {model} to {MASKED.max_documents:,} reviews")
    result = adapt(REVIEWS, model, out, MASKED, reporter=SilentReporter())
    values = [shown(each) for each in (result.perplexity_before, result.perplexity_after)]
    yield Figure(name="reviews, perplexity", ours=values[1], peer=values[0])
    before, after = probe(model), probe(str(out))
    each = compare_means(before, after)
    yield Figure(
        name="NSMC, linear probe",
        ours=f"{100 * after.mean():.1f} %",
        peer=f"{100 * before.mean():.1f} %",
        remark=f"{PROBED:,} reviews: {each.verdict}, {100 * each.value:+.2f}"
        f" [{100 * each.low:+.2f}, {100 * each.high:+.2f}]; the peer is the model before.",
    )


def probe(model: str) -> Float64Array:
    """Whether the label of each test review is right, by logistic regression of its vector."""
    from sklearn.linear_model import LogisticRegression

    with gzip.open(NSMC, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    rows = [row for row in rows if len(row) == 3 and row[1].strip()]
    random.Random(0).shuffle(rows)
    some = rows[: 2 * PROBED]
    labels = np.array([int(row[2]) for row in some])
    vectors = load_transformer(model).encode([row[1] for row in some], normalize=True)
    fitted = LogisticRegression(C=10, max_iter=500).fit(vectors[:PROBED], labels[:PROBED])
    right: Float64Array = (fitted.predict(vectors[PROBED:]) == labels[PROBED:]).astype(np.float64)
    return right


def shown(score: Score | None) -> str:
    return "" if score is None or score.value is None else f"{score.value:.1f}"
