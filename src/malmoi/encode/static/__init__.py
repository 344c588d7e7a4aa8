"""Sentence vectors from word vectors: weighted averages."""
