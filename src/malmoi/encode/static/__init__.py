"""Texts as averages of word vectors."""
