"""Vectors and statistics from counts: co-occurrences, PMI, LSA, one-hot."""
