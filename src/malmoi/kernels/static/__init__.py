"""Kernels of static encoders: pooling of token vectors, and training them."""
