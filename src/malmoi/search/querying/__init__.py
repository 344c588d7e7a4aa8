"""querying."""
