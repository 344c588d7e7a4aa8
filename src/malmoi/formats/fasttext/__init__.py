"""fasttext."""
