"""Slow, obvious twins of the kernels of linear classifiers, in plain Python and NumPy."""

import math

import numpy as np

from malmoi.arrays import Float32Array, Float64Array
from malmoi.hangul import EMPTY, split_jamo

MASK = 2**64 - 1
CHARACTERS, WORDS, JAMO = 0x1F3D5B79, 0x2E4C6A88, 0x3A5C7E91


def mix(state: int, code: int) -> int:
    state = (state ^ code) * 0x9E3779B97F4A7C15 & MASK
    return state ^ state >> 29


def fold(text: str, max_run: int = 3) -> str:
    """Lower case, single blanks, short runs, and a blank at both ends."""
    folded = " "
    for letter in text:
        lower = letter.lower() if ord(letter) < 0x10000 else letter
        letter = " " if letter.isspace() else lower if len(lower) == 1 else letter
        if letter == " " == folded[-1] or folded.endswith(letter * max_run):
            continue
        folded += letter
    return folded if folded.endswith(" ") else f"{folded} "


def hash_of(codes: list[int], salt: int, bits: int) -> int:
    for code in codes:
        salt = mix(salt, code)
    return salt >> 64 - bits


def ngram_set(text: str, min_n: int, max_n: int, words: int, jamo: int, bits: int) -> list[int]:
    """The buckets of a text, in order of their first occurrence."""
    folded, found = fold(text), list[int]()

    def add(letters: str, shortest: int, longest: int, salt: int) -> None:
        for i in range(len(letters)):
            for n in range(shortest, longest + 1):
                ngram = letters[i : i + n]
                if len(ngram) == n and ngram != " ":
                    found.append(hash_of([ord(one) for one in ngram], salt, bits))

    add(folded, min_n, max_n, CHARACTERS)
    tokens = folded.split(" ")[1:-1] if folded.strip(" ") else []
    hashes = []
    for token in tokens:
        state = WORDS
        for letter in token:
            state = mix(state, ord(letter))
        hashes.append(state)
    for i in range(len(hashes)):
        for n in range(1, words + 1):
            if i + n <= len(hashes):
                found.append(hash_of(hashes[i : i + n], WORDS, bits))
    if jamo:
        letters = "".join(
            split_jamo(one).replace(EMPTY, "") if "가" <= one <= "힣" else one for one in folded
        )
        add(letters, 3, jamo, JAMO)
    return list(dict.fromkeys(found))


class LinearTable:
    """Logistic regression on features scaled by their log ratios, one text at a time."""

    def __init__(self, sets: list[list[int]], labels: list[list[int]], rows: int, outputs: int,
                 alpha: float) -> None:  # fmt: skip
        self.sets, self.labels, self.alpha, self.outputs = sets, labels, alpha, outputs
        self.weights, self.bias = np.ones((rows, outputs)), np.zeros(outputs)
        self.positive, self.total = np.zeros((rows, outputs)), np.zeros(rows)
        for own, names in zip(sets, labels, strict=True):
            for row in own:
                self.total[row] += 1
                self.positive[row, names] += 1
        self.features = max(1, int((self.total > 0).sum()))
        self.sum_positive = self.positive.sum(axis=0)
        self.sum_negative = self.total.sum() - self.sum_positive

    def ratio(self, row: int, k: int, without: int | None = None) -> float:
        """r of a feature, without the text of this number."""
        positive, total = self.positive[row, k], self.total[row]
        if without is not None:
            positive, total = positive - (k in self.labels[without]), total - 1
        smooth = self.alpha * self.features
        share = (self.alpha + positive) / (smooth + self.sum_positive[k])
        return math.log(share / ((self.alpha + total - positive) / (smooth + self.sum_negative[k])))

    def ratios(self, text: int) -> Float64Array:
        """[features of the text, outputs], divided by the norm."""
        own = [[self.ratio(row, k, text) for k in range(self.outputs)] for row in self.sets[text]]
        values = np.array(own, np.float64).reshape(-1, self.outputs)
        square = (values**2).sum() / self.outputs
        return values / math.sqrt(square) if square > 1e-6 else 0 * values

    def learn(self, text: int, rate: float, bias_rate: float, softmax: bool) -> float:
        """One step; returns the loss before it."""
        values, own = self.ratios(text), self.sets[text]
        scores = (self.weights[own] * values).sum(axis=0) + self.bias
        targets = np.zeros(self.outputs)
        targets[self.labels[text]] = 1
        if softmax:
            shares = np.exp(scores - scores.max())
            shares /= shares.sum()
            loss = -float(np.log(shares[targets == 1]).sum())
        else:
            shares = 1 / (1 + np.exp(-scores))
            loss = -float(np.log(np.where(targets == 1, shares, 1 - shares)).sum())
        errors = shares - targets
        self.weights[own] -= rate * errors * values
        self.bias -= rate * bias_rate * errors
        return loss


def score(
    own: list[int], buckets: list[int], values: Float32Array, norms: Float32Array
) -> Float64Array:
    """Σ values / √Σ norms² of the buckets that have a row."""
    rows = [buckets.index(one) for one in own if one in buckets]
    square = float((norms[rows] ** 2).sum())
    sums: Float64Array = values[rows].sum(axis=0, dtype=np.float64)
    return sums / (math.sqrt(square) or 1)
