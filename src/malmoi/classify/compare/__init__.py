"""Compares kinds of classifiers on the same labelled texts: how good, and at what cost."""
