"""Networks that classify: embeddings of words or characters, and fine-tuned transformers."""
