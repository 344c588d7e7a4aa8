"""Where work over items runs: engines, and the Ray cluster as one of them."""
