"""How long the nearest words take beside gensim, and whether they are the same ones."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import malmoi
from bench.data import Data
from bench.measure import Figure, best_of, faster, say, seconds
from bench.peers import to_gensim

SINGLE, TOGETHER = 200, 1000  # words asked for
AMONG = 50_000  # the most frequent words, of which they are drawn
K = 10
SINGLE_ROUNDS, TOGETHER_ROUNDS = 7, 3
SINGLE_ASKED, TOGETHER_ASKED = 3, 10  # times gensim's speed
TIE = 1e-6  # cosines nearer to each other than that may change places

Found = Sequence[tuple[str, float]]


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part."""
    vectors, peer = data.glove, to_gensim(data.glove)
    drawn = np.random.default_rng(50).choice(AMONG, TOGETHER, replace=False)
    words = [vectors.keys[row] for row in drawn.tolist()]
    yield single(vectors, peer, words[:SINGLE])
    yield first_two(vectors, words)
    yield together(vectors, peer, words)
    yield agreement(vectors, peer, words)
    yield from analogies(vectors, peer, words)


def single(vectors: malmoi.Vectors, peer: Any, words: list[str]) -> Figure:
    """One word a call, when two have been asked for already."""
    for word in words[:2]:
        malmoi.neighbours(vectors, word, K)
    say(f"{len(words)} words one after the other, {SINGLE_ROUNDS} rounds of both")
    ours, theirs = best_of(
        SINGLE_ROUNDS,
        lambda: [malmoi.neighbours(vectors, word, K) for word in words],
        lambda: [peer.most_similar(word, topn=K) for word in words],
    )
    each = len(words)
    return faster("neighbours of a word", ours / each, theirs / each, SINGLE_ASKED)


def first_two(vectors: malmoi.Vectors, words: list[str]) -> Figure:
    """What the first questions cost, of which the second makes a coarse copy for later ones."""
    fresh = vectors[: len(vectors)]
    first, second = (
        best_of(1, partial(malmoi.neighbours, fresh, word, K))[0] for word in words[:2]
    )
    return Figure(
        name="the first two, not in that",
        ours=seconds(first + second),
        remark=f"The first question of all takes {seconds(first)} (norms), the second"
        f" {seconds(second)}: it makes a copy that the later ones, timed above, are quick by.",
    )


def together(vectors: malmoi.Vectors, peer: Any, words: list[str]) -> Figure:
    """All words in one call; gensim takes one at a time."""
    say(f"{len(words)} words in one call, {TOGETHER_ROUNDS} rounds of both")
    ours, theirs = best_of(
        TOGETHER_ROUNDS,
        lambda: malmoi.neighbours(vectors, words, K),
        lambda: [peer.most_similar(word, topn=K) for word in words],
    )
    return faster(f"neighbours of {len(words):,}, one call", ours, theirs, TOGETHER_ASKED)


def analogies(vectors: malmoi.Vectors, peer: Any, words: list[str]) -> Iterator[Figure]:
    """a - b + c, one a call, of words drawn by chance; then whether the answers are the same."""
    triples = list(zip(words[:SINGLE], words[SINGLE:], words[2 * SINGLE :], strict=False))
    asked = [(f"{a} - {b} + {c}", [a, c], [b]) for a, b, c in triples]
    say(f"{len(asked)} analogies one after the other, {SINGLE_ROUNDS} rounds of both")
    answers: dict[str, list[Found]] = {}

    def ours() -> None:
        answers["ours"] = [malmoi.analogy(vectors, text, K) for text, _, _ in asked]

    def theirs() -> None:
        answers["theirs"] = [peer.most_similar(plus, minus, topn=K) for _, plus, minus in asked]

    mine, others = best_of(SINGLE_ROUNDS, ours, theirs)
    yield faster("an analogy", mine / len(asked), others / len(asked), SINGLE_ASKED)
    right = [alike(*both) for both in zip(answers["ours"], answers["theirs"], strict=True)]
    yield Figure(
        name="the same answers as gensim's",
        ours=f"{np.mean(right):.1%}",
        asked="all",
        met=all(right),
    )


def agreement(vectors: malmoi.Vectors, peer: Any, words: list[str]) -> Figure:
    """The share of words for which both ways of asking give gensim's neighbours."""
    say("the neighbours themselves")
    at_once = malmoi.neighbours(vectors, words, K)
    right = [
        alike(found, peers) and alike(malmoi.neighbours(vectors, word, K), peers)
        for word, found in zip(words, at_once, strict=True)
        for peers in [peer.most_similar(word, topn=K)]
    ]
    return Figure(
        name="the same ones as gensim's",
        ours=f"{np.mean(right):.1%}",
        asked="all",
        met=all(right),
    )


def alike(ours: Found, peers: Found) -> bool:
    """The same scores, and the same words but for those as near as the last one."""
    if len(ours) != len(peers):
        return False
    last = peers[-1][1] + TIE
    surely = [{word for word, score in found if score > last} for found in (ours, peers)]
    apart = max(abs(mine - theirs) for (_, mine), (_, theirs) in zip(ours, peers, strict=True))
    return apart < TIE and surely[0] == surely[1]
