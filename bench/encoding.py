"""How fast MiniLM embeds beside sentence-transformers, and what a question from the shell takes.

Measured with the processor's best instructions, and again without AVX-512 on both sides; each
row names its instruction set.
"""

import csv
import gzip
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from bench.data import Data
from bench.measure import Figure, best_of, command, faster, say, within
from bench.narrower import figures_without_avx512, print_figures
from bench.text import CORPORA
from malmoi.arrays import Float32Array, Float64Array
from malmoi.encode.encoder import load_transformer
from malmoi.encode.protocol import Arithmetic
from malmoi.encode.runtime.engine import can_compile
from malmoi.evaluate.scores import spearman

Encode = Callable[[list[str]], Float32Array]

MODEL, ROUNDS, TEXTS, MIXED = "minilm", 3, 1500, 800
# Times as fast, for short texts, mixed ones and one alone, and points of Spearman it may cost.
ASKED: dict[Arithmetic, tuple[float, float, float]] = {
    "float32": (1.4, 1.5, 3.3),
    "int16": (2.0, 2.0, 3.3),
    "int8": (2.1, 2.1, 3.3),
}
LOST: dict[Arithmetic, float] = {"int16": 0.1, "int8": 0.5}
SHALLOW, SHELL = 2.5, 1.5  # times, seconds
TURNS, QUESTIONS = 8, 15  # of one at a time
SCRIPT = (
    "from sentence_transformers import SentenceTransformer as S;"
    "import sys; S(sys.argv[1], device='cpu').encode(['hello'])"
)


class Candidate(NamedTuple):
    """An encoder of ours, what its rows are called, and how much faster it has to be."""

    name: str
    encode: Encode
    at_least: float | None


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part; none where the texts are not there."""
    if not CORPORA.is_dir():
        say(f"no texts in {CORPORA.parent} (set MALMOI_DATA): encoding is left out")
        return
    from malmoi.encode.checkpoint.locate import find_model

    yield from beside_sentence_transformers()
    yield from figures_without_avx512("bench.encoding")
    yield shallow(load_transformer(MODEL))
    yield from shell(str(find_model(MODEL)))


def beside_sentence_transformers() -> Iterator[Figure]:
    """Floats and quantized, with the instructions that this process uses."""
    from sentence_transformers import SentenceTransformer

    from malmoi.encode.checkpoint.locate import find_model

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    peer: Encode = SentenceTransformer(str(find_model(MODEL)), device="cpu").encode
    encoders: dict[Arithmetic, Encode] = {"float32": settled(MODEL).encode}
    quantized = settled(f"{MODEL}:quantized")
    if quantized.engine.arithmetic == "float32":
        say("this processor has no instructions for quantized models: they are left out")
    else:
        encoders[quantized.engine.arithmetic] = quantized.encode
    for column, (kind, texts) in enumerate(
        {"short": short_texts(), "mixed": mixed_texts()}.items()
    ):
        ours = [
            Candidate(f"{kind}, {row_name(arithmetic)}", encode, ASKED[arithmetic][column])
            for arithmetic, encode in encoders.items()
        ]
        yield from throughput(texts, ours, peer)
    for arithmetic, encode in encoders.items():
        name, at_least = f"one text, {row_name(arithmetic)}", ASKED[arithmetic][2]
        yield latency(Candidate(name, encode, at_least), peer)
        if arithmetic != "float32":
            yield cost_of_quantizing(encoders["float32"], encode, arithmetic)
    if can_compile():
        from bench.flops import shares_of_peak

        yield from shares_of_peak(instructions("float32"))
    else:
        say("this processor has no AVX2: there is no share of its peak")


def settled(name: str) -> Any:
    """A model that runs in our own kernels, as it does by itself after two seconds' work."""
    encoder = load_transformer(name)
    encoder.compile()
    return encoder


def row_name(arithmetic: Arithmetic) -> str:
    """The arithmetic and its instructions."""
    return f"{arithmetic}, {instructions(arithmetic)}"


def instructions(arithmetic: Arithmetic) -> str:
    """The instruction set that this arithmetic uses here."""
    if not can_compile():
        return "onnxruntime"
    from malmoi.kernels.core.llvm import SIMD_WIDTH

    return "AVX-512 VNNI" if arithmetic == "int8" else "AVX-512" if SIMD_WIDTH == 16 else "AVX2"


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
        paragraphs = [line.strip() for _, line in zip(range(MIXED // 2), file, strict=False)]
    both = zip(short_texts(), paragraphs, strict=False)
    return [text for pair in both for text in pair if text]


def throughput(texts: list[str], ours: Sequence[Candidate], peer: Encode) -> Iterator[Figure]:
    """Many texts at once, in turn with the peer."""
    for candidate in ours:
        say(f"{candidate.name}: {len(texts):,} texts, {ROUNDS} rounds")
        np.testing.assert_allclose(candidate.encode(texts[:50]), peer(texts[:50]), atol=0.1)
    tasks = [partial(encode, texts) for encode in (*(each.encode for each in ours), peer)]
    *times, theirs = best_of(ROUNDS, *tasks)
    for candidate, mine in zip(ours, times, strict=True):
        rates = f"{len(texts) / mine:,.0f} texts a second, {len(texts) / theirs:,.0f} by the peer"
        yield faster(
            candidate.name, mine, theirs, candidate.at_least, f"{candidate.name}: {rates}."
        )


def cost_of_quantizing(ours: Encode, quantized: Encode, arithmetic: Arithmetic) -> Figure:
    """STS-B dev: Spearman's rank correlation of floats and of integers, in points."""
    rows, lost = sts_rows(), LOST[arithmetic]
    people = np.array([float(row[2]) for row in rows])
    exact, near = (agreement(encode, rows, people) for encode in (ours, quantized))
    return Figure(
        name=f"STS-B dev, {row_name(arithmetic)}",
        ours=f"{near:.2f}",
        peer=f"{exact:.2f}",
        off=exact - near,
        asked=f"< {lost} less",
        met=exact - near < lost,
    )


def agreement(encode: Encode, rows: list[list[str]], people: Float64Array) -> float:
    """Spearman's rank correlation of cosines and people's scores, in points."""
    first, second = (encode([row[side] for row in rows]) for side in (0, 1))
    return 100 * (spearman(np.sum(first * second, axis=1, dtype=np.float64), people) or 0.0)


def latency(ours: Candidate, peer: Encode) -> Figure:
    """One short sentence: the median of many questions, some at a time in turn.

    Not one by one in turn: the threads of one would still be spinning when the other begins.
    """
    say(f"{ours.name}: one sentence at a time")
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(TURNS):
        for encode, taken in zip((ours.encode, peer), times, strict=True):
            for _ in range(QUESTIONS):
                start = time.perf_counter()
                encode(["how do I open an account?"])
                taken.append(time.perf_counter() - start)
    mine, theirs = (median(taken) for taken in times)
    return faster(ours.name, mine, theirs, ours.at_least)


def shallow(ours: Any) -> Figure:
    """Layer 2 asked for, beside all 6."""
    ours.compile()
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


if __name__ == "__main__":
    print_figures(beside_sentence_transformers())
