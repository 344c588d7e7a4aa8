"""Supervised models of fastText."""
