"""A transformer encoder: embeddings, attention, feed-forward layers, GEMM in three types."""
