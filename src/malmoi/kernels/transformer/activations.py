"""Exponentials and GELU in single precision, so that LLVM can make vectors of them."""

import math

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.kernels.core.jit import inlined, readily_compiled
from malmoi.kernels.transformer.row_max import highest

LOG2E = np.float32(math.log2(math.e))
LEAST = np.float32(-80.0)  # the exponential of less would make numbers too small to be fast
# 2ˣ for −1/2 ≤ x ≤ 1/2, highest first: Taylor's coefficients ln(2)ⁿ / n!, to 2e-8.
POWERS = tuple(np.float32(math.log(2) ** n / math.factorial(n)) for n in range(7, -1, -1))
# erf by Abramowitz and Stegun 7.1.26, to 1.5e-7.
ERF = tuple(map(np.float32, (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)))
ERF_STEP = np.float32(0.3275911)
HALF, ONE = np.float32(0.5), np.float32(1)
ROOT_HALF = np.float32(math.sqrt(0.5))
ROOT_2_PI, CUBIC = np.float32(math.sqrt(2 / math.pi)), np.float32(0.044715)


@inlined
def decay(x: np.float32) -> np.float32:
    """exp(x) for x ≤ 0."""
    power = max(x, LEAST) * LOG2E
    whole = np.int32(power - HALF)  # towards 0, so that the rest is between −1/2 and 1/2
    rest = power - np.float32(whole)
    value = POWERS[0]
    for coefficient in POWERS[1:]:
        value = value * rest + coefficient
    return value * np.int32((whole + np.int32(127)) << np.int32(23)).view(np.float32)


@inlined
def exact_gelu(x: np.float32) -> np.float32:
    """x · Φ(x), Φ the normal distribution: x (1 + erf(x / √2)) / 2."""
    far = abs(x) * ROOT_HALF
    t = ONE / (ONE + ERF_STEP * far)
    value = ERF[0]
    for coefficient in ERF[1:]:
        value = value * t + coefficient
    tail = HALF * value * t * decay(-far * far)  # Φ(−|x|)
    return max(x, np.float32(0)) - abs(x) * tail


@inlined
def tanh_gelu(x: np.float32) -> np.float32:
    """x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2, which is x · σ(2 √(2/π) (…))."""
    bent = np.float32(2) * ROOT_2_PI * (x + CUBIC * x * x * x)
    small = decay(-abs(bent))
    tail = small / (ONE + small)  # σ(−|…|)
    return max(x, np.float32(0)) - abs(x) * tail


@readily_compiled
def exponentials(row: Float32Array, count: int) -> np.float32:
    """The first so many numbers become exp(number − highest); their sum. Softmax but for that."""
    most = highest(row, count)
    total = np.float32(0)
    for i in range(count):
        row[i] = decay(row[i] - most)
        total += row[i]
    return total
