"""From hidden states to vectors: layers, layer pooling, groups of tokens, recipes."""
