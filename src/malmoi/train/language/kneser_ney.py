"""Modified Kneser–Ney smoothing: absolute discounts, and counts of contexts in lower orders.

Chen & Goodman (1998), as Heafield et al. (2013) estimate it without pruning: the orders
are interpolated, single words with an even distribution over all words and `<unk>`.
"""

import numpy as np

from malmoi.arrays import Float64Array, Int64Array
from malmoi.models.ngram_counts import NgramCounts
from malmoi.models.ngram_model import NgramModel
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.train.language.smoothing import NgramOrder, Shares, compose, levels

# Discounts of n-grams counted once, twice and more often where the corpus is too small to
# estimate them: those of KenLM's --discount_fallback.
FALLBACK = np.array([0.0, 0.5, 1.0, 1.5])


def kneser_ney(counts: NgramCounts, reporter: Reporter = DEFAULT_REPORTER) -> NgramModel:
    """The model with three discounts per order, each estimated from the corpus."""
    orders = levels(counts, [adjusted_counts(counts, m) for m in range(1, counts.order + 1)])
    discounts = [estimate_discounts(level.counts) for level in orders]
    guessed = [str(order) for order, amounts in enumerate(discounts, 1) if amounts is None]
    if guessed:
        reporter.warn(
            f"the corpus is too small to estimate discounts for order {', '.join(guessed)}:"
            f" {', '.join(map(str, FALLBACK[1:].tolist()))} are used"
        )
    shares = [
        discounted(level, FALLBACK if amounts is None else amounts)
        for level, amounts in zip(orders, discounts, strict=True)
    ]
    words = len(counts.trie.words) - 1  # <s> follows nothing
    return compose(counts, shares, floor=1 / words, backs_off=True)


def adjusted_counts(counts: NgramCounts, order: int) -> Int64Array:
    """Before how many different words each n-gram was seen.

    The highest order keeps its counts, and so do n-grams at the beginning of a sentence,
    which nothing stands before.
    """
    seen = counts.counts[order - 1]
    if order == counts.order:
        return seen
    continuations = np.bincount(counts.suffixes[order], minlength=len(seen))
    return np.where(continuations > 0, continuations, seen)


def estimate_discounts(counts: Int64Array) -> Float64Array | None:
    """What is taken off counts of 0, 1, 2 and more, by Chen & Goodman's equation 26.

    None where no n-gram was seen once, twice, three or four times, or they are out of bounds.
    """
    once, twice, thrice, four_times = (int(np.count_nonzero(counts == n)) for n in range(1, 5))
    if not (once and twice and thrice and four_times):
        return None
    base = once / (once + 2 * twice)
    amounts = np.array(
        [
            0.0,
            1 - 2 * base * twice / once,
            2 - 3 * base * thrice / twice,
            3 - 4 * base * four_times / thrice,
        ]
    )
    return amounts if np.all((amounts >= 0) & (amounts <= np.arange(4))) else None


def discounted(level: NgramOrder, discounts: Float64Array) -> Shares:
    """Each count less its discount; what was taken off a context's counts is its rest."""
    amounts = discounts[np.minimum(level.counts, 3)]
    own = (level.counts - amounts) / level.totals[level.contexts]
    taken = np.bincount(level.contexts, amounts, minlength=len(level.totals))
    rest = np.ones_like(level.totals)  # of contexts that nothing follows
    np.divide(taken, level.totals, out=rest, where=level.totals > 0)
    return Shares(own, rest)
