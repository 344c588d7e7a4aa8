"""Typo correction: keyboards, edits, a character language model and a noisy channel."""
