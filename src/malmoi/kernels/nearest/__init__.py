"""Kernels for nearest neighbours: int8 scores and top-k lists for all pairs."""
