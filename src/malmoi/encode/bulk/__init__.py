"""Many texts in bounded memory: chunks, files of embeddings."""
