"""How long files take to load beside gensim, and how much memory a fastText model takes.

Both are asked for one word after loading, so that neither can put its work off. Memory is
the peak above what the process took before, as the system counts it, mapped pages included.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import malmoi
from bench.data import MODEL_BUCKETS, MODEL_DIM, MODEL_WORDS, Data
from bench.measure import Figure, answer, best_of, faster, megabytes, probe, ready, say

ROUNDS = 3
WORD = "king"
MOST_MEMORY = 1.2  # times the file's size


@dataclass(frozen=True)
class Case:
    """A file with the gensim call that loads it."""

    name: str
    small: Path
    large: Path
    peer: Callable[[Path], Any]
    at_least: float


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part."""
    for case in cases(data):
        yield speed(case)
    yield memory(data)


def cases(data: Data) -> list[Case]:
    """The formats that are asked for."""
    from gensim.models import KeyedVectors
    from gensim.models.fasttext import load_facebook_vectors

    def text(path: Path) -> Any:
        return KeyedVectors.load_word2vec_format(str(path), no_header=True)

    def binary(path: Path) -> Any:
        return KeyedVectors.load_word2vec_format(str(path), binary=True)

    def fasttext(path: Path) -> Any:
        return load_facebook_vectors(str(path))

    return [
        Case("load GloVe text", data.small_file(".txt"), data.glove_file(".txt"), text, 10),
        Case("load word2vec binary", data.small_file(".bin"), data.glove_file(".bin"), binary, 5),
        Case("load fastText .bin", data.small_fasttext_file, data.fasttext_file, fasttext, 3),
    ]


def speed(case: Case) -> Figure:
    """How much faster than gensim."""
    # Warms both up, and makes sure that they do the same.
    if not np.allclose(malmoi.load(case.small)[WORD], case.peer(case.small)[WORD], atol=1e-6):
        raise RuntimeError(f"{case.name}: gensim gives '{WORD}' another vector than malmoi")
    say(f"{case.name}, {ROUNDS} rounds of both")
    ours, peer = best_of(
        ROUNDS, *(ready(load, case.large, WORD) for load in (malmoi.load, case.peer))
    )
    return faster(case.name, ours, peer, case.at_least)


def memory(data: Data) -> Figure:
    """The peak while a fastText model is loaded, in fresh processes."""
    say("memory of a fastText model")
    size = data.fasttext_file.stat().st_size
    files = str(data.small_fasttext_file), str(data.fasttext_file)
    grown = {}
    for who in ("malmoi", "gensim"):
        with probe(who, *files) as process:
            grown[who] = answer(process)
    ours, peer = grown["malmoi"], grown["gensim"]
    return Figure(
        name="its peak memory, of the file",
        ours=f"{ours / size:.2f}×",
        peer=f"{peer / size:.2f}×",
        ratio=peer / ours,
        asked=f"≤ {MOST_MEMORY:g}×",
        met=ours <= MOST_MEMORY * size,
        remark=f"The fastText file: {megabytes(size)} of random numbers, {MODEL_WORDS:,} words,"
        f" {MODEL_BUCKETS:,} buckets, {MODEL_DIM} numbers each.",
    )
