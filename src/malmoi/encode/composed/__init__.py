"""Encoders made of others: a model with a recipe of its own, several encoders side by side."""
