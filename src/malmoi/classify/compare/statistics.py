"""Statistics of runs: accuracy over seeds with its interval, and differences between classifiers.

A text may be tested with several seeds. Resamples draw texts, so that the interval covers both
which texts were tested and how they were split.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.classify.compare.run import Run
from malmoi.evaluate.scores import Score, interval, resample_weights
from malmoi.evaluate.suites.differences import Difference

MAX_RESAMPLED = 20_000  # texts; of more, groups are resampled

RunsBySeed = Mapping[int, Run]


def accuracy_over_seeds(runs: RunsBySeed) -> Score:
    """The share of right test texts over all seeds, with a bootstrap interval over texts."""
    hits, times = _sums([(run, 1.0) for run in runs.values()])
    value, draws = _ratio(hits, times)
    low, high = interval(draws)
    return Score(value=value, low=low, high=high, answered=int(times.sum()), total=int(times.sum()))


def difference_to(best: RunsBySeed, other: RunsBySeed) -> Difference | None:
    """The accuracy of `other` minus that of `best`, on the seeds that both have."""
    seeds = sorted(best.keys() & other.keys())
    if not seeds:
        return None
    signed = [(runs[seed], sign) for seed in seeds for runs, sign in ((other, 1.0), (best, -1.0))]
    hits, times = _sums(signed)
    value, draws = _ratio(hits, times / 2)
    low, high = interval(draws)
    return Difference(
        value=value, low=value if low is None else low, high=value if high is None else high
    )


def _sums(runs: Sequence[tuple[Run, float]]) -> tuple[Float64Array, Float64Array]:
    """Signed hits of each text, and how often it was tested."""
    count = 1 + max(int(run.rows.max()) for run, _ in runs)
    hits, times = np.zeros(count), np.zeros(count)
    for run, sign in runs:
        np.add.at(hits, run.rows, sign * run.right)
        np.add.at(times, run.rows, 1)
    tested = np.flatnonzero(times)
    hits, times = hits[tested], times[tested]
    if len(tested) <= MAX_RESAMPLED:
        return hits, times
    groups = np.arange(len(tested)) % MAX_RESAMPLED
    grouped_hits, grouped_times = np.zeros((2, MAX_RESAMPLED))
    np.add.at(grouped_hits, groups, hits)
    np.add.at(grouped_times, groups, times)
    return grouped_hits, grouped_times


def _ratio(hits: Float64Array, times: Float64Array) -> tuple[float, Float64Array]:
    """Σ hits / Σ times, and the same of resamples."""
    draws = [
        (weights @ hits) / (weights @ times) for weights in resample_weights(len(hits), seed=0)
    ]
    return float(hits.sum() / times.sum()), np.concatenate(draws)
