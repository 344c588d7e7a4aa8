"""Vectors from counts: one-hot, co-occurrence, PMI and LSA."""
