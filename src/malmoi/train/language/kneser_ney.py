"""Modified Kneser–Ney smoothing: absolute discounting, and continuation counts in lower orders.

Chen & Goodman (1998), estimated like Heafield et al. (2013) without pruning: the orders are
interpolated, and unigrams are interpolated with a uniform distribution over all words and
`<unk>`.
"""

import numpy as np

from malmoi.arrays import Float64Array, Int64Array
from malmoi.models.ngram_counts import NgramCounts
from malmoi.models.ngram_model import NgramModel
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.train.language.smoothing import NgramOrder, Shares, compose, group_by_context

# Discounts of n-grams counted never, once, twice and more often if the corpus is too small to
# estimate them; the last three are the defaults of KenLM's --discount_fallback.
FALLBACK_DISCOUNTS = np.array([0.0, 0.5, 1.0, 1.5])


def kneser_ney(counts: NgramCounts, reporter: Reporter = DEFAULT_REPORTER) -> NgramModel:
    """Build the model with three discounts per order, estimated from the corpus."""
    orders = group_by_context(
        counts, [adjusted_counts(counts, m) for m in range(1, counts.order + 1)]
    )
    discounts = [estimate_discounts(level.counts) for level in orders]
    not_estimated = [str(order) for order, amounts in enumerate(discounts, 1) if amounts is None]
    if not_estimated:
        reporter.warn(
            f"the corpus is too small to estimate discounts for order {', '.join(not_estimated)}:"
            f" {', '.join(map(str, FALLBACK_DISCOUNTS[1:].tolist()))} are used instead"
        )
    shares = [
        discounted(level, FALLBACK_DISCOUNTS if amounts is None else amounts)
        for level, amounts in zip(orders, discounts, strict=True)
    ]
    words = len(counts.trie.words) - 1  # without <s>, which is never predicted
    return compose(counts, shares, floor=1 / words, backs_off=True)


def adjusted_counts(counts: NgramCounts, order: int) -> Int64Array:
    """Return the continuation counts: the number of distinct words before each n-gram.

    The highest order keeps its counts, and so do n-grams at the start of a sentence, which have
    no word before them.
    """
    seen = counts.counts[order - 1]
    if order == counts.order:
        return seen
    continuations = np.bincount(counts.suffixes[order], minlength=len(seen))
    return np.where(continuations > 0, continuations, seen)


def estimate_discounts(counts: Int64Array) -> Float64Array | None:
    """Estimate the discounts of counts 0, 1, 2 and more, by Chen & Goodman's equation 26.

    None if no n-gram occurs once, twice, three or four times, or a discount is out of bounds.
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
    """Subtract the discounts; the rest of a context is the sum of its discounts."""
    amounts = discounts[np.minimum(level.counts, 3)]
    own = (level.counts - amounts) / level.totals[level.contexts]
    discount_sums = np.bincount(level.contexts, amounts, minlength=len(level.totals))
    rest = np.ones_like(level.totals)  # of contexts that no word follows
    np.divide(discount_sums, level.totals, out=rest, where=level.totals > 0)
    return Shares(own, rest)
