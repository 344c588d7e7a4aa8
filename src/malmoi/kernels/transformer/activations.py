"""Exponentials and GELU in single precision, in a form that LLVM can vectorize."""

import math

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.kernels.core.jit import jit_finite, jit_inline
from malmoi.kernels.transformer.row_max import row_max

LOG2E = np.float32(math.log2(math.e))
MIN_EXPONENT = np.float32(-80.0)  # smaller ones would give denormal numbers, which are slow
# 2ˣ for −1/2 ≤ x ≤ 1/2, highest first: Taylor's coefficients ln(2)ⁿ / n!, to 2e-8.
EXP2_COEFFICIENTS = tuple(
    np.float32(math.log(2) ** n / math.factorial(n)) for n in range(7, -1, -1)
)
# erf by Abramowitz and Stegun 7.1.26, to 1.5e-7.
ERF_COEFFICIENTS = tuple(
    map(np.float32, (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592))
)
ERF_STEP = np.float32(0.3275911)
HALF, ONE = np.float32(0.5), np.float32(1)
ROOT_HALF = np.float32(math.sqrt(0.5))
ROOT_2_PI, CUBIC = np.float32(math.sqrt(2 / math.pi)), np.float32(0.044715)


@jit_inline
def exp_nonpositive(x: np.float32) -> np.float32:
    """exp(x) for x ≤ 0."""
    power = max(x, MIN_EXPONENT) * LOG2E
    whole = np.int32(power - HALF)  # towards 0, so that the rest is between −1/2 and 1/2
    rest = power - np.float32(whole)
    value = EXP2_COEFFICIENTS[0]
    for coefficient in EXP2_COEFFICIENTS[1:]:
        value = value * rest + coefficient
    return value * np.int32((whole + np.int32(127)) << np.int32(23)).view(np.float32)


@jit_inline
def gelu_exact(x: np.float32) -> np.float32:
    """x · Φ(x), Φ the normal distribution: x (1 + erf(x / √2)) / 2."""
    scaled = abs(x) * ROOT_HALF
    t = ONE / (ONE + ERF_STEP * scaled)
    value = ERF_COEFFICIENTS[0]
    for coefficient in ERF_COEFFICIENTS[1:]:
        value = value * t + coefficient
    tail = HALF * value * t * exp_nonpositive(-scaled * scaled)  # Φ(−|x|)
    return max(x, np.float32(0)) - abs(x) * tail


@jit_inline
def gelu_tanh(x: np.float32) -> np.float32:
    """x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2, which is x · σ(2 √(2/π) (…))."""
    inner = np.float32(2) * ROOT_2_PI * (x + CUBIC * x * x * x)
    small = exp_nonpositive(-abs(inner))
    tail = small / (ONE + small)  # σ(−|…|)
    return max(x, np.float32(0)) - abs(x) * tail


@jit_finite
def exp_shifted(row: Float32Array, count: int) -> np.float32:
    """Replace the first `count` values by exp(value − maximum); return their sum.

    This is softmax before the division.
    """
    largest = row_max(row, count)
    total = np.float32(0)
    for i in range(count):
        row[i] = exp_nonpositive(row[i] - largest)
        total += row[i]
    return total
