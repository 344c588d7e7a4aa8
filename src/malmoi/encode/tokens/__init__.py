"""From texts to tokens: tokenizer, windows, passages, statistics of inputs."""
