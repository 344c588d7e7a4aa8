"""Classifiers on the frozen vectors of any encoder."""
