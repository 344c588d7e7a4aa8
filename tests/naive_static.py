"""Slow, obvious twins of the kernels of static encoders, in plain NumPy."""

import numpy as np

from malmoi.arrays import Float64Array


def mean_of_rows(table: Float64Array, ids: list[int]) -> Float64Array:
    """The mean of some rows; zeros where there are none."""
    return np.mean(table[ids], axis=0) if ids else np.zeros(table.shape[1])


class TokenTable:
    """Token vectors and the sum of squared gradients of each, by row-wise AdaGrad."""

    def __init__(self, table: Float64Array) -> None:
        self.table, self.squares = table.astype(np.float64), np.full(len(table), 1e-12)

    def learn_target(self, ids: list[int], target: Float64Array, rate: float) -> float:
        """One text to its target; returns 1 − cosine before the step."""
        total = self.table[ids].sum(axis=0)
        if not total.any():
            return 1.0
        length = np.sqrt(total @ total)
        cosine = total @ target / length
        self._step(ids, (cosine * total / length - target) / length, rate)
        return float(1 - cosine)

    def learn_pair(self, one: list[int], other: list[int], score: float, rate: float) -> float:
        """Two texts to a cosine; returns the squared error before the step."""
        sums = [self.table[ids].sum(axis=0) for ids in (one, other)]
        if not (sums[0].any() and sums[1].any()):
            return score**2
        lengths = [np.sqrt(each @ each) for each in sums]
        u, v = (each / length for each, length in zip(sums, lengths, strict=True))
        error = u @ v - score
        gradients = (
            2 * error * (v - (u @ v) * u) / lengths[0],
            2 * error * (u - (u @ v) * v) / lengths[1],
        )
        self._step(one, gradients[0], rate)
        self._step(other, gradients[1], rate)
        return float(error**2)

    def _step(self, ids: list[int], gradient: Float64Array, rate: float) -> None:
        if gradient.any():
            for i in ids:
                self.squares[i] += gradient @ gradient
                self.table[i] -= rate * gradient / np.sqrt(self.squares[i])


def best_tokens(word: str, scores: dict[str, float], unknown: float) -> list[str]:
    """The tokens of a word with the largest sum of scores; of equal ones that which begins first.

    A character without a token has the score `unknown`.
    """
    best: list[tuple[float, list[str]]] = [(0.0, [])]
    for stop in range(1, len(word) + 1):
        candidates = []
        for start in range(stop):
            token = word[start:stop]
            score = scores.get(token, unknown if len(token) == 1 else None)
            if score is not None:
                candidates.append((score + best[start][0], [*best[start][1], token]))
        best.append(max(candidates, key=lambda each: each[0]))  # the first of the largest
    return best[-1][1]
