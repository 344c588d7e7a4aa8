"""How fast MiniLM embeds beside sentence-transformers, and what a question from the shell takes."""

import csv
import gzip
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Any

from bench.data import Data
from bench.measure import Figure, best_of, command, faster, say, within
from bench.text import CORPORA
from malmoi.encode.encoder import load_contextual

MODEL, ROUNDS, TEXTS = "minilm", 3, 1500
ASKED = {"short": 1.4, "mixed": 1.5}
QUICKER, SHALLOW, SHELL = 3.3, 2.5, 1.5  # times, times, seconds
QUESTIONS = 60
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
    for kind, texts in {"short": short_texts(), "mixed": mixed_texts()}.items():
        yield throughput(kind, texts, ours.encode, peer.encode)
    yield latency(ours.encode, peer.encode)
    yield shallow(ours)
    yield from shell(folder)


def short_texts() -> list[str]:
    """Sentences of STS-B."""
    path = CORPORA.parent / "sts" / "stsb_en"
    with (path / "stsb-en-dev.csv").open(encoding="utf-8", newline="") as file:
        return [sentence for row in csv.reader(file) for sentence in row[:2]][:TEXTS]


def mixed_texts() -> list[str]:
    """Sentences among paragraphs of Wikipedia."""
    with gzip.open(CORPORA / "enwiki.txt.gz", "rt", errors="replace") as file:
        paragraphs = [line.strip() for _, line in zip(range(TEXTS // 2), file, strict=False)]
    both = zip(short_texts(), paragraphs, strict=False)
    return [text for pair in both for text in pair if text]


def throughput(
    kind: str, texts: list[str], ours: Callable[..., Any], peer: Callable[..., Any]
) -> Figure:
    """Many texts at once."""
    say(f"{len(texts):,} {kind} texts, {ROUNDS} rounds")
    ours(texts[:50])
    peer(texts[:50])
    mine, theirs = best_of(ROUNDS, partial(ours, texts), partial(peer, texts))
    remark = f"{kind} texts: {len(texts) / mine:,.0f} a second, {len(texts) / theirs:,.0f}."
    return faster(f"MiniLM, {kind} texts", mine, theirs, ASKED[kind], remark)


def latency(ours: Callable[..., Any], peer: Callable[..., Any]) -> Figure:
    """One short sentence: the median of many questions, in turn."""
    say("one sentence at a time")
    question = ["how do I open an account?"]
    times = [best_of(1, partial(ours, question), partial(peer, question)) for _ in range(QUESTIONS)]
    mine, theirs = (median(each) for each in zip(*times, strict=True))
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
