"""Pretraining of ELMo: a character CNN and a bidirectional language model, from your own text."""
