"""Kernels of ELMo: LSTMs with a projection, and the character CNN with its highway layers."""
