"""How fast MiniLM embeds beside sentence-transformers, and what a question from the shell takes."""

import csv
import gzip
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from bench.data import Data
from bench.measure import Figure, best_of, command, faster, say, within
from bench.text import CORPORA
from malmoi.encode.encoder import load_contextual
from malmoi.evaluate.scores import Numbers, spearman
from malmoi.vectors import Matrix

Encode = Callable[[list[str]], Matrix]

MODEL, ROUNDS, TEXTS = "minilm", 3, 1500
ASKED = {"short": 1.4, "mixed": 1.5}
ROUNDED, LOST = 2.1, 0.5  # int8: times as fast, and points of Spearman that it may cost
QUICKER, SHALLOW, SHELL = 3.3, 2.5, 1.5  # times, times, seconds
TURNS, QUESTIONS = 8, 15  # of one at a time
SCRIPT = (
    "from sentence_transformers import SentenceTransformer as S;"
    "import sys; S(sys.argv[1], device='cpu').encode(['hello'])"
)


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part; none where the texts are not there."""
    if not CORPORA.is_dir():
        say(f"no texts in {CORPORA.parent} (set MALMOI_DATA): encoding is left out")
        return
    from sentence_transformers import SentenceTransformer

    from malmoi.encode.finding import find_model

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    folder = str(find_model(MODEL))
    ours, peer = load_contextual(MODEL), SentenceTransformer(folder, device="cpu")
    rounded = load_contextual(f"{MODEL}:int8")
    ours.engine.settle()  # as it does by itself after two seconds' work
    for kind, texts in {"short": short_texts(), "mixed": mixed_texts()}.items():
        yield throughput(f"{kind} texts", texts, ours.encode, peer.encode, ASKED[kind])
        yield throughput(f"{kind} texts, int8", texts, rounded.encode, peer.encode, ROUNDED)
    yield cost_of_rounding(ours.encode, rounded.encode)
    yield latency(ours.encode, peer.encode)
    yield shallow(ours)
    yield from shell(folder)


def sts_rows() -> list[list[str]]:
    """STS-B dev: two sentences and how alike people find them."""
    path = CORPORA.parent / "sts" / "stsb_en" / "stsb-en-dev.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def short_texts() -> list[str]:
    """Sentences of STS-B."""
    return [sentence for row in sts_rows() for sentence in row[:2]][:TEXTS]


def mixed_texts() -> list[str]:
    """Sentences among paragraphs of Wikipedia."""
    with gzip.open(CORPORA / "enwiki.txt.gz", "rt", errors="replace") as file:
        paragraphs = [line.strip() for _, line in zip(range(TEXTS // 2), file, strict=False)]
    both = zip(short_texts(), paragraphs, strict=False)
    return [text for pair in both for text in pair if text]


def throughput(kind: str, texts: list[str], ours: Encode, peer: Encode, at_least: float) -> Figure:
    """Many texts at once."""
    say(f"{len(texts):,} {kind}, {ROUNDS} rounds")
    np.testing.assert_allclose(ours(texts[:50]), peer(texts[:50]), atol=0.1)
    mine, theirs = best_of(ROUNDS, partial(ours, texts), partial(peer, texts))
    remark = f"{kind}: {len(texts) / mine:,.0f} a second, {len(texts) / theirs:,.0f}."
    return faster(f"MiniLM, {kind}", mine, theirs, at_least, remark)


def cost_of_rounding(ours: Encode, rounded: Encode) -> Figure:
    """STS-B dev: Spearman's rank correlation of floats and of bytes, in points."""
    rows = sts_rows()
    people = np.array([float(row[2]) for row in rows])
    exact, near = (agreement(encode, rows, people) for encode in (ours, rounded))
    return Figure(
        name="  its Spearman on STS-B dev",
        ours=f"{near:.2f}",
        peer=f"{exact:.2f}",
        off=exact - near,
        asked=f"< {LOST} less",
        met=exact - near < LOST,
    )


def agreement(encode: Encode, rows: list[list[str]], people: Numbers) -> float:
    """Spearman's rank correlation of cosines and people's scores, in points."""
    first, second = (encode([row[side] for row in rows]) for side in (0, 1))
    return 100 * (spearman(np.sum(first * second, axis=1, dtype=np.float64), people) or 0.0)


def latency(ours: Encode, peer: Encode) -> Figure:
    """One short sentence: the median of many questions, some at a time in turn.

    Not one by one in turn: the threads of one would still be spinning when the other begins.
    """
    say("one sentence at a time")
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(TURNS):
        for encode, taken in zip((ours, peer), times, strict=True):
            for _ in range(QUESTIONS):
                start = time.perf_counter()
                encode(["how do I open an account?"])
                taken.append(time.perf_counter() - start)
    mine, theirs = (median(taken) for taken in times)
    return faster("MiniLM, one sentence", mine, theirs, QUICKER)


def shallow(ours: Any) -> Figure:
    """Layer 2 asked for, beside all 6."""
    texts = short_texts()
    two, six = (partial(ours.encode, texts, layers=[layer], pool="mean") for layer in (2, 6))
    two()
    mine, theirs = best_of(ROUNDS, two, six)
    return faster("layer 2 of 6 beside all 6", mine, theirs, SHALLOW)


def shell(folder: str) -> Iterator[Figure]:
    """From the shell to the first vector."""
    say("from the shell")
    mine = command([sys.executable, "-m", "malmoi", "embed", "hello", "--model", MODEL])
    theirs = command([sys.executable, "-c", SCRIPT, folder])
    first, second = best_of(ROUNDS, mine, theirs)
    yield within("malmoi embed hello", first, SHELL, second)
