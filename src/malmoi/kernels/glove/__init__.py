"""Kernels of GloVe: weighted least squares by AdaGrad."""
