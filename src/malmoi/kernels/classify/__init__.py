"""Kernels of linear classifiers: hashed n-grams of texts, their weights, and the scores."""
