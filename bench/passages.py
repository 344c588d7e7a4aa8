"""Search of long texts in passages: SciFact's abstracts, which MiniLM reads only in part."""

from collections.abc import Iterator

from bench.data import Data
from bench.measure import Figure, say
from bench.retrieval import SCIFACT, K, abstracts, points, shown
from malmoi.encode.loading import load_encoder
from malmoi.evaluate.retrieval import evaluate_retrieval, load_beir
from malmoi.search.build import build_index


def run(data: Data) -> Iterator[Figure]:
    """nDCG@10 of the train queries; none where SciFact is not there."""
    if not SCIFACT.is_dir():
        say(f"no {SCIFACT} (set MALMOI_DATA): passages are left out")
        return
    test, entries = load_beir(SCIFACT, "train"), abstracts()
    say(f"embedding {len(entries):,} abstracts in passages")
    texts, ids = zip(*((entry.text, entry.id) for entry in entries), strict=True)
    index = build_index(load_encoder("minilm"), texts, ids=ids)
    whole, both = (
        evaluate_retrieval(index, test, K),
        evaluate_retrieval(index, test, K, hybrid=True),
    )
    words = evaluate_retrieval(index, test, K, lexical=True)
    yield Figure(
        name="SciFact nDCG@10, passages",
        ours=shown(whole),
        remark=f"{index.state.vector_count:,} passages of {len(entries):,} abstracts; words weigh"
        f" {index.state.weight:.2f}.",
    )
    best = max(whole, words, key=points)
    yield Figure(
        name="SciFact, passages, hybrid",
        ours=shown(both),
        peer=shown(best),
        asked="≥",
        met=points(both) >= points(best),
    )
