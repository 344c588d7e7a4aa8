"""How long our own file takes to open, and whether processes share its memory.

The peer is gensim's own format, opened memory-mapped too. A word is looked up after opening.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import malmoi
from bench.data import LARGE_DIM, LARGE_WORDS, Data
from bench.measure import Figure, answer, best_of, megabytes, probe, ready, say, within
from bench.peers import to_gensim

ROUNDS = 5
LIMIT = 0.05  # seconds
WORD, LARGE_WORD = "king", f"word{LARGE_WORDS // 2}"
SHARED = 0.01  # what each process may hold of its own, of the file's size


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part."""
    yield open_glove(data)
    large = data.large_file
    if large is None:
        return
    try:
        yield open_large(large)
        yield share(data.small_file(".malmoi"), large)
    finally:
        large.unlink()


def open_glove(data: Data) -> Figure:
    """400,000 × 50, beside gensim's `load(mmap="r")`."""
    from gensim.models import KeyedVectors

    own, peers = data.glove_file(".malmoi"), data.folder / "glove.kv"
    say("opening our own file")
    to_gensim(data.glove).save(str(peers), sep_limit=0)  # arrays apart: only so they are mapped

    def open_peer(path: Path) -> Any:
        return KeyedVectors.load(str(path), mmap="r")

    ours, peer = best_of(ROUNDS, ready(malmoi.load, own, WORD), ready(open_peer, peers, WORD))
    return within("open .malmoi, 400,000 × 50", ours, LIMIT, peer)


def open_large(path: Path) -> Figure:
    """The same at 27 times the size."""
    (ours,) = best_of(ROUNDS, ready(malmoi.load, path, LARGE_WORD))
    return within(f"open .malmoi, {LARGE_WORDS:,} × {LARGE_DIM}", ours, LIMIT)


def share(small: Path, large: Path) -> Figure:
    """Two processes read the whole matrix: what each has of its own beside the shared pages."""
    say("two processes reading one file")
    files = str(small), str(large)
    with probe("private", *files) as one, probe("private", *files) as other:
        for process in (one, other):
            answer(process)  # it has read every page
        grown = [answer(process, "now\n") for process in (one, other)]
    size = large.stat().st_size
    return Figure(
        name="private memory of 2 processes",
        ours=megabytes(sum(grown)),
        asked="shared",
        met=max(grown) < SHARED * size,
        remark=f"Two processes that each read all {megabytes(size)} of a file hold"
        f" {megabytes(sum(grown))} of their own for it; shared is under {SHARED:.0%} each.",
    )
