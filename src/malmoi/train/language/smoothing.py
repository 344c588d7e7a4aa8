"""Estimates probabilities from counts, with or without smoothing.

Every method gives each n-gram its own share of the probability after its context, and each
context a rest; `compose` distributes the rest over the words by a lower-order estimate:

    P(w | context) = own(context w) + rest(context) · P(w | shorter context)

so that every method yields a back-off model.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from malmoi.arrays import Float64Array, Int64Array
from malmoi.models.ngram_counts import NgramCounts
from malmoi.models.ngram_model import NgramModel


class Shares(NamedTuple):
    """The shares of the probability of one order."""

    own: Float64Array  # [n-grams]
    rest: Float64Array  # [contexts], which are the n-grams one order below


class NgramOrder(NamedTuple):
    """The counts of one order, grouped by context."""

    counts: Int64Array  # [n-grams]
    contexts: Int64Array  # [n-grams]: a row of `totals`
    totals: Float64Array  # [contexts]: the sum of the counts after it


def group_by_context(
    counts: NgramCounts, adjusted: Sequence[Int64Array] | None = None
) -> list[NgramOrder]:
    """Group the counts of every order, or adjusted counts; `<s>` has no context and counts 0."""
    orders = []
    sizes = [1, *counts.trie.sizes]
    for order, numbers in enumerate(adjusted or counts.counts, 1):
        contexts = counts.contexts(order)
        if order == 1:
            numbers = numbers.copy()
            numbers[counts.trie.begin] = 0
        totals = np.bincount(contexts, numbers, minlength=sizes[order - 1]).astype(np.float64)
        orders.append(NgramOrder(numbers, contexts, totals))
    return orders


def compose(
    counts: NgramCounts, shares: Sequence[Shares], *, floor: float, backs_off: bool
) -> NgramModel:
    """Build the model of these shares, one per order.

    The rest of a context is distributed like the probabilities after the shorter context or, in
    models without back-off and for single words, evenly: `floor` for each word.
    """
    probabilities: list[Float64Array] = []
    lower_order: float | Float64Array = floor
    for order, (own, rest) in enumerate(shares, 1):
        smoothed = own + rest[counts.contexts(order)] * lower_order
        if order == 1:
            smoothed[counts.trie.begin] = 0
        probabilities.append(smoothed)
        if backs_off and order < counts.order:
            lower_order = smoothed[counts.suffixes[order]]
    return NgramModel(
        counts.trie,
        tuple(probabilities),
        tuple(rest for _, rest in shares[1:]),
        None if backs_off else floor,
    )


def unsmoothed(counts: NgramCounts) -> NgramModel:
    """c(context w) / c(context): maximum likelihood; unseen n-grams have the probability 0."""
    shares = [
        Shares(level.counts / level.totals[level.contexts], np.zeros_like(level.totals))
        for level in group_by_context(counts)
    ]
    return compose(counts, shares, floor=0.0, backs_off=False)


def add_k(counts: NgramCounts, k: float) -> NgramModel:
    """(c(context w) + k) / (c(context) + k · words): k is added to every count."""
    words = len(counts.trie.words) - 1  # without <s>, which is never predicted
    shares = []
    for level in group_by_context(counts):
        totals = level.totals + k * words
        shares.append(Shares(level.counts / totals[level.contexts], k * words / totals))
    return compose(counts, shares, floor=1 / words, backs_off=False)


def interpolated(counts: NgramCounts, weights: Sequence[float]) -> NgramModel:
    """Σ weight · c(context w) / c(context) over the orders, single words first.

    After an unseen context the weights of the shorter contexts are scaled up to 1.
    """
    shares = []
    for level, weight, shorter in zip(
        group_by_context(counts), weights, np.cumsum([0.0, *weights])[:-1], strict=True
    ):
        share = weight / (shorter + weight)
        own = share * level.counts / level.totals[level.contexts]
        shares.append(Shares(own, np.where(level.totals > 0, 1 - share, 1.0)))
    return compose(counts, shares, floor=0.0, backs_off=True)
