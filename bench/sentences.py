"""MiniLM on STS-B beside sentence-transformers' own evaluator: the same figure."""

import warnings
from collections.abc import Iterator
from typing import Any

from bench.data import Data
from bench.measure import Figure, say
from bench.text import CORPORA
from malmoi.encode.checkpoint.locate import find_model
from malmoi.encode.loading import load_encoder
from malmoi.errors import MalmoiWarning
from malmoi.evaluate.sentences import sentence_similarity
from malmoi.evaluate.sets.sentence_sets import SentenceSet, read_sentences

STSB = CORPORA.parent / "sts" / "stsb_en" / "stsb-en-dev.csv"
MODEL, ALLOWED = "minilm", 0.01  # points of 100


def run(data: Data) -> Iterator[Figure]:
    """Spearman and Pearson; none where STS-B is not there."""
    if not STSB.is_file():
        say(f"no {STSB} (set MALMOI_DATA): sentences are left out")
        return
    warnings.simplefilter("ignore", MalmoiWarning)
    asked = read_sentences(STSB)
    say(f"{len(asked.pairs):,} pairs of STS-B by {MODEL}, and by sentence-transformers")
    ours = sentence_similarity(load_encoder(MODEL), asked)
    for kind, theirs in evaluator_figures(asked).items():
        mine = 100 * (getattr(ours, kind).value or 0.0)
        off = abs(mine - 100 * theirs)
        yield Figure(
            name=f"STS-B dev, {kind.title()}",
            ours=f"{mine:.3f}",
            peer=f"{100 * theirs:.3f}",
            off=off,
            asked=f"± {ALLOWED:g}",
            met=off < ALLOWED,
        )


def evaluator_figures(asked: SentenceSet) -> dict[str, float]:
    """Spearman and Pearson of cosines, as sentence-transformers has them."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.evaluation import EmbeddingSimilarityEvaluator

    ones, others, scores = zip(*asked.pairs, strict=True)
    evaluate: Any = EmbeddingSimilarityEvaluator(ones, others, scores, write_csv=False)
    found = evaluate(SentenceTransformer(str(find_model(MODEL)), device="cpu"))
    return {kind: float(found[f"{kind}_cosine"]) for kind in ("spearman", "pearson")}
