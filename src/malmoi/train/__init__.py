"""From a corpus and settings to a model: one file per method."""
