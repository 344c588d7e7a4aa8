"""Text to tokens: documents from files, normalization, tokenizers, vocabularies, ids on disk."""
