"""ELMo (Peters et al. 2018): a character CNN, and LSTMs that read a text in both directions."""
