"""Counts to probabilities, with or without something set aside for what was never seen.

Every method says of each n-gram what share of its context it has of its own, and of each
context what it leaves over; `compose` gives the rest to the words by a simpler estimate:

    P(w | context) = own(context w) + rest(context) · P(w | shorter context)

so that all of them are back-off models in the end. Knows nothing of text or settings.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from malmoi.arrays import Float64Array, Int64Array
from malmoi.models.ngram_counts import NgramCounts
from malmoi.models.ngram_model import NgramModel


class Shares(NamedTuple):
    """How the probability of one order is shared out."""

    own: Float64Array  # [n-grams]
    rest: Float64Array  # [contexts]: the n-grams one order below


class NgramOrder(NamedTuple):
    """The counts of one order, grouped by context."""

    counts: Int64Array  # [n-grams]
    contexts: Int64Array  # [n-grams]: a row of `totals`
    totals: Float64Array  # [contexts]: what followed it, counted


def levels(counts: NgramCounts, amounts: Sequence[Int64Array] | None = None) -> list[NgramOrder]:
    """Every order, with its own counts or other amounts; `<s>` follows nothing."""
    found = []
    sizes = [1, *counts.trie.sizes]
    for order, numbers in enumerate(amounts or counts.counts, 1):
        contexts = counts.contexts(order)
        if order == 1:
            numbers = numbers.copy()
            numbers[counts.trie.begin] = 0
        totals = np.bincount(contexts, numbers, minlength=sizes[order - 1]).astype(np.float64)
        found.append(NgramOrder(numbers, contexts, totals))
    return found


def compose(
    counts: NgramCounts, shares: Sequence[Shares], *, floor: float, backs_off: bool
) -> NgramModel:
    """The model of these shares.

    The rest of a context goes to the words as after the shorter context, or, for models
    that do not back off and for single words, evenly: `floor` to each.
    """
    probabilities: list[Float64Array] = []
    simpler: float | Float64Array = floor
    for order, (own, rest) in enumerate(shares, 1):
        found = own + rest[counts.contexts(order)] * simpler
        if order == 1:
            found[counts.trie.begin] = 0
        probabilities.append(found)
        if backs_off and order < counts.order:
            simpler = found[counts.suffixes[order]]
    return NgramModel(
        counts.trie,
        tuple(probabilities),
        tuple(rest for _, rest in shares[1:]),
        None if backs_off else floor,
    )


def unsmoothed(counts: NgramCounts) -> NgramModel:
    """c(context w) / c(context): maximum likelihood, nothing for what was never seen."""
    shares = [
        Shares(level.counts / level.totals[level.contexts], np.zeros_like(level.totals))
        for level in levels(counts)
    ]
    return compose(counts, shares, floor=0.0, backs_off=False)


def add_k(counts: NgramCounts, k: float) -> NgramModel:
    """(c(context w) + k) / (c(context) + k · words): as if all had been seen k times more."""
    words = len(counts.trie.words) - 1  # <s> follows nothing
    shares = []
    for level in levels(counts):
        totals = level.totals + k * words
        shares.append(Shares(level.counts / totals[level.contexts], k * words / totals))
    return compose(counts, shares, floor=1 / words, backs_off=False)


def interpolated(counts: NgramCounts, weights: Sequence[float]) -> NgramModel:
    """Σ weight · c(context w) / c(context) over the orders, single words first.

    After a context that was never seen the weights of the shorter ones count for all.
    """
    shares = []
    for level, weight, shorter in zip(
        levels(counts), weights, np.cumsum([0.0, *weights])[:-1], strict=True
    ):
        share = weight / (shorter + weight)
        own = share * level.counts / level.totals[level.contexts]
        shares.append(Shares(own, np.where(level.totals > 0, 1 - share, 1.0)))
    return compose(counts, shares, floor=0.0, backs_off=True)
