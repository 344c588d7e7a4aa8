"""Hidden states to vectors: layers, layer pooling, token pooling, recipes."""
