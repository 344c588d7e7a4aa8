"""Model folders: where they are, their config, weights, prompts and modules."""
