"""How long the nearest words take beside gensim, and whether they are the same ones."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import malmoi
from bench.data import Data
from bench.measure import Figure, best_of, faster, say, seconds

SINGLE, TOGETHER = 200, 1000  # words asked for
AMONG = 50_000  # the most frequent words, of which they are drawn
K = 10
SINGLE_ROUNDS, TOGETHER_ROUNDS = 7, 3
TIE = 1e-6  # cosines nearer to each other than that may change places

Answers = list[list[tuple[str, float]]]


def peer_vectors(data: Data) -> Any:
    """GloVe as gensim's KeyedVectors, its norms computed."""
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(data.glove.dim)
    vectors.add_vectors(data.words, np.array(data.glove.matrix))
    vectors.fill_norms()
    return vectors


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part."""
    peer = peer_vectors(data)
    drawn = data.random.choice(AMONG, TOGETHER, replace=False).tolist()
    words = [data.words[row] for row in drawn]
    yield first_questions(data, words)
    yield single(data.glove, peer, words[:SINGLE])
    yield together(data.glove, peer, words)
    yield agreement(data.glove, peer, words)


def first_questions(data: Data, words: list[str]) -> Figure:
    """What the coarse copy costs that later questions gain by: made at the second one."""
    malmoi.neighbours(data.glove, words[0], K)  # the kernels compiled, then vectors anew
    malmoi.neighbours(data.glove, words[1], K)
    fresh = data.glove[: len(data.glove)]
    first, second = (best_of(1, lambda w=word: malmoi.neighbours(fresh, w, K))[0] for word in words[:2])
    return Figure(
        name="the first two questions, once",
        ours=seconds(first + second),
        remark=f"First question {seconds(first)}, second {seconds(second)} (it makes what"
        " speeds up the later ones); the others are timed after those two.",
    )


def single(vectors: malmoi.Vectors, peer: Any, words: list[str]) -> Figure:
    """One word a call."""
    say(f"{len(words)} words one after the other, {SINGLE_ROUNDS} rounds of both")
    ours, theirs = best_of(
        SINGLE_ROUNDS,
        lambda: [malmoi.neighbours(vectors, word, K) for word in words],
        lambda: [peer.most_similar(word, topn=K) for word in words],
    )
    return faster("neighbours of one word", ours / len(words), theirs / len(words), 3)


def together(vectors: malmoi.Vectors, peer: Any, words: list[str]) -> Figure:
    """All words in one call; gensim takes one at a time."""
    say(f"{len(words)} words in one call, {TOGETHER_ROUNDS} rounds of both")
    ours, theirs = best_of(
        TOGETHER_ROUNDS,
        lambda: malmoi.neighbours(vectors, words, K),
        lambda: [peer.most_similar(word, topn=K) for word in words],
    )
    return faster(f"neighbours of {len(words):,} in one call", ours, theirs, 10)


def agreement(vectors: malmoi.Vectors, peer: Any, words: list[str]) -> Figure:
    """The share of words for which all three ways give the same neighbours."""
    theirs = [peer.most_similar(word, topn=K) for word in words]
    at_once: Answers = [list(found) for found in malmoi.neighbours(vectors, words, K)]
    by_one: Answers = [list(malmoi.neighbours(vectors, word, K)) for word in words]
    same = np.mean([
        alike(a, c) and alike(b, c) for a, b, c in zip(at_once, by_one, theirs, strict=True)
    ])
    return Figure(
        name="words with the same neighbours as gensim's",
        ours=f"{same:.1%}",
        asked="all",
        met=bool(same == 1),
    )


def alike(ours: list[tuple[str, float]], peers: list[tuple[str, float]]) -> bool:
    """The same words in the same order, but for those that are equally near."""
    close = all(abs(a[1] - b[1]) < TIE for a, b in zip(ours, peers, strict=True))
    last = min(score for _, score in peers) + TIE
    inner = [{word for word, score in found if score > last} for found in (ours, peers)]
    return close and inner[0] == inner[1]
