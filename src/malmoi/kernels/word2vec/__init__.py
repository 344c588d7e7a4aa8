"""Kernels of Word2Vec and FastText: skip-gram, CBOW, negative sampling, subwords."""
