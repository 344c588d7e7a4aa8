"""Texts to tokens: normalization, tokenizer, windows, passages, statistics."""
