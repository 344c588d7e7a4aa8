"""Vocabulary extension: a model of the BERT family learns the words of another language."""
