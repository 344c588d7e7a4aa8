"""fastText's model files, .bin and .ftz: reading, writing, product quantization."""
