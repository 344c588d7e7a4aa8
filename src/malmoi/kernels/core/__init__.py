"""Compilation of kernels: Numba flags, LLVM instructions, code cache, barriers, checks."""
