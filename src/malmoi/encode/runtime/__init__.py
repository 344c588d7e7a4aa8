"""Engines: batches of tokens through a model, by onnxruntime or by compiled kernels."""
