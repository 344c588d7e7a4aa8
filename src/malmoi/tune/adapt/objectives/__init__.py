"""What an encoder learns from raw text: contrastive pairs, masked words, restored texts."""
