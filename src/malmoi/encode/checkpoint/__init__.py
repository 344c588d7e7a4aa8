"""Pretrained models on disk: where they are, their config, weights, modules and prompts."""
