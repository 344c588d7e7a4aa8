"""Questions to vectors: neighbours, analogies, comparisons, embedding matrices."""
