"""Language models: n-grams with smoothing, and the neural model (NNLM)."""
