"""Tuning of a sentence encoder on examples: settings, objectives, one step, and the whole run."""
