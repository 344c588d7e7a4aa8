"""What runs a model: batches, ONNX Runtime sessions and compiled kernels."""
