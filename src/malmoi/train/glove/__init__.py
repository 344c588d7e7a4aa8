"""glove."""
