"""How long files take to load beside gensim, and how much memory a fastText model takes.

Both are asked for one word after loading, so that neither can put its work off.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import malmoi
from bench.data import Data
from bench.measure import Figure, answer, best_of, faster, megabytes, probe, say

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
    for warm in (malmoi.load, case.peer):
        warm(case.small)
    say(f"{case.name}, {ROUNDS} rounds of both")
    ours, peer = best_of(
        ROUNDS,
        lambda: malmoi.load(case.large)[WORD],
        lambda: case.peer(case.large)[WORD],
    )
    return faster(case.name, ours, peer, case.at_least)


def memory(data: Data) -> Figure:
    """The peak while a fastText model is loaded, in fresh processes."""
    say("memory of a fastText model")
    size = data.fasttext_file.stat().st_size
    files = str(data.small_fasttext_file), str(data.fasttext_file)
    ours, peer = (answer(probe(who, *files)) for who in ("ours", "gensim"))
    return Figure(
        name="its peak memory, of the file",
        ours=f"{ours / size:.2f}×",
        peer=f"{peer / size:.2f}×",
        ratio=peer / ours,
        asked=f"≤ {MOST_MEMORY:g}×",
        met=ours <= MOST_MEMORY * size,
        remark=f"The fastText file: {megabytes(size)} of random numbers; mapped pages count.",
    )
