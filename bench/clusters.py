"""Clusters beside exact search: how many of the nearest they find, and how fast."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from bench.data import Data
from bench.measure import Figure, best_of, faster, say
from malmoi.arrays import Float32Array, Int64Array
from malmoi.search.build import build_index
from malmoi.search.querying.ranking import by_vector
from malmoi.search.storage.state import State
from malmoi.vectors import l2_normalize

K, RECALL, TIMES = 10, 0.95, 10.0
QUERIES, ROUNDS, SEED = 1000, 5, 99


def run(data: Data) -> Iterator[Figure]:
    """400,000 × 50: queries that are other rows than those the clusters were tuned with."""
    say("clustering 400,000 × 50")
    index = build_index(data.glove)
    state, tuned = index.state, index.state.clusters
    assert tuned is not None
    random = np.random.default_rng(SEED)
    rows = l2_normalize(index.vectors.matrix[random.permutation(len(index))[:QUERIES]])
    noise, anywhere = (
        l2_normalize(random.normal(size=rows.shape).astype(np.float32)) for _ in range(2)
    )
    perturbed = l2_normalize(rows + np.float32(0.5) * noise)
    ask(state, rows[:3], exact=True)
    for name, asked in (("rows with noise", perturbed), ("random directions", anywhere)):
        share = shared(ask(state, asked), ask(state, asked, exact=True))
        yield Figure(
            name=f"recall@10, {name}", ours=f"{share:.3f}", asked=f"≥ {RECALL}", met=share >= RECALL
        )
    remark = (
        f"Clusters: recall when built {tuned.recall_perturbed:.3f} for rows with noise,"
        f" {tuned.recall_random:.3f} for random directions; {tuned.probes} of {tuned.clusters:,}"
        f" are looked into, {tuned.far_probes} where no centre is near."
    )
    each = (("rows", rows, TIMES), ("rows with noise", perturbed, None), ("random", anywhere, None))
    for name, asked, times in each:
        some = asked[:300]
        fast, slow = best_of(
            ROUNDS, partial(ask, state, some), partial(ask, state, some, exact=True)
        )
        yield faster(f"clusters, {name}", fast / len(some), slow / len(some), times, remark)
        remark = ""
    some = rows[:300]
    units = l2_normalize(index.vectors.matrix)
    whole, all_of_it, plain = best_of(
        ROUNDS,
        lambda: [index.search(one, K) for one in some],
        lambda: [index.search(one, K, exact=True) for one in some],
        lambda: [best_in_numpy(units, one) for one in some],
    )
    remark = (
        "With hits: texts and fields of the ten rows made as well. Our exact search looks"
        " through bytes first; NumPy multiplies all rows, and makes no hits."
    )
    yield faster("the same, with hits", whole / len(some), all_of_it / len(some), TIMES, remark)
    yield faster("hits beside exact in NumPy", whole / len(some), plain / len(some), TIMES)


def best_in_numpy(units: Float32Array, direction: Float32Array) -> Int64Array:
    """The rows of the ten highest products, best first."""
    scores = units @ direction
    best = np.argpartition(scores, -K)[-K:]
    return best[np.argsort(-scores[best])]


def ask(
    state: State, directions: Float32Array, k: int = K, *, exact: bool = False
) -> list[Int64Array]:
    """One query after the other."""
    return [by_vector(state, one, k, state.alive, exact=exact).rows for one in directions]


def shared(found: list[Int64Array], truth: list[Int64Array]) -> float:
    """The share of the ten nearest that were found."""
    pairs = zip(found, truth, strict=True)
    return float(np.mean([len({*near.tolist()} & {*best.tolist()}) / K for near, best in pairs]))
