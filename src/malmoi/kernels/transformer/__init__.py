"""Kernels of a transformer: GEMM, attention, layer norm, GELU, quantization."""
