"""Kernels: all hot loops, on arrays. They know NumPy and Numba, nothing else.

No strings, no Python objects, no logging. Importing a module of this package, except threads and
marks, imports Numba; each kernel is compiled at its first call and cached on disk.
"""
