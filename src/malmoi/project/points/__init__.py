"""points."""
