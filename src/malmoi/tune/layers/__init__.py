"""Layer weights: how much each layer of a model counts for a task, learned from labelled texts."""
