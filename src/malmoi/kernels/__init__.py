"""Arrays in, arrays changed: the only hot loops. NumPy and Numba, nothing else.

No strings, no Python objects, no logging. Importing a file of this folder, all but threads.py,
imports Numba; each kernel is compiled at its first call and kept on disk.
"""
