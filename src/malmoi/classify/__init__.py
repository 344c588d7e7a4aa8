"""Classifiers: texts with labels to a model that labels new texts, and says why."""
