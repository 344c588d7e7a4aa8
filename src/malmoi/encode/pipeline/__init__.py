"""From texts to vectors: the text pipeline, its pooling, and hidden states as values."""
