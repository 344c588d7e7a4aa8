"""Kernels of nearest-neighbour search: int8 scores and pairwise top-k."""
