"""From a corpus and settings to a model: one file per method.

Knows nothing of what the models are used for.
"""
