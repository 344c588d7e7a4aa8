"""The network of ELMo for training: character CNN, LSTMs, sampled softmax, export of weights."""
