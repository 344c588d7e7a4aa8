"""`malmoi evaluate` and `malmoi sweep`."""
