"""Queries against an index: filters, BM25, vector ranking, hybrid search, hits."""
