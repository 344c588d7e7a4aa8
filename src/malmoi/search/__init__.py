"""Search over texts of one's own: by meaning, by words, or by both."""
