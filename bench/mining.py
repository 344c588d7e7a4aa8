"""Hard negatives of SciFact's train queries: how many, and that none of them is judged relevant."""

import warnings
from collections.abc import Iterator

from bench.data import Data
from bench.measure import Figure, say
from bench.retrieval import SCIFACT, abstracts
from malmoi.encode.loading import load_encoder
from malmoi.errors import MalmoiWarning
from malmoi.evaluate.retrieval import load_beir
from malmoi.search.build import build_index
from malmoi.tune.mining.mine import mine_negatives
from malmoi.tune.mining.settings import MiningSettings

MODEL = "minilm"
UNGUARDED = MiningSettings(relative_margin=None, near_duplicates=None)


def run(data: Data) -> Iterator[Figure]:
    """With one positive of each query known, how many mined texts are others of its positives.

    All positives of a query are judged; only the first is given, so that the others can be mined
    by mistake. The margin is there to exclude them.
    """
    if not SCIFACT.is_dir():
        say(f"no {SCIFACT} (set MALMOI_DATA): mining is left out")
        return
    warnings.simplefilter("ignore", MalmoiWarning)
    texts = {entry.id: entry.text for entry in abstracts()}
    test = load_beir(SCIFACT, "train")
    relevant = {
        test.queries[name]: [texts[each] for each, gain in judged.items() if gain > 0]
        for name, judged in test.relevant.items()
        if name in test.queries
    }
    pairs = [(query, text) for query, own in relevant.items() for text in own]
    index = build_index(load_encoder(MODEL), list(texts.values()), passages=False)
    mined = mine_negatives(pairs, index)
    wrong = sum(one.negative in relevant[one.anchor] for one in mined.triplets)
    skipped = ", ".join(f"{count:,} {reason}" for reason, count in mined.skipped.items())
    yield Figure(
        name="SciFact: mined and relevant",
        ours=f"{wrong} of {len(mined):,}",
        asked="0",
        met=wrong == 0,
        remark=f"{mined.pairs:,} pairs; candidates skipped: {skipped}.",
    )
    first = [(query, own[0]) for query, own in relevant.items() if own[1:]]
    for name, settings in (("with the margin", MiningSettings()), ("without it", UNGUARDED)):
        found = mine_negatives(first, index, settings=settings)
        wrong = sum(one.negative in relevant[one.anchor] for one in found.triplets)
        yield Figure(
            name=f"one positive known, {name}",
            ours=f"{wrong} of {len(found):,}",
            remark=f"{len(first):,} queries with several relevant texts, of which one is known.",
        )
