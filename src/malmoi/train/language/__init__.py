"""Language models: n-grams with smoothing, and a feed-forward neural model."""
