"""Kernels that parse bytes: numbers, words, characters, rows of vectors."""
