"""What all kernels share: compilation, code cache, LLVM intrinsics, threads, checks."""
