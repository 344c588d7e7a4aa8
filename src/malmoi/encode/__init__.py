"""Encoders: texts to vectors, with transformers or averaged word vectors."""
