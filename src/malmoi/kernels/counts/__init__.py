"""Kernels that count: n-grams, and sparse co-occurrence matrices."""
