"""Text to tokens: documents from files, normalising, tokenizers, counting, ids on disk."""
