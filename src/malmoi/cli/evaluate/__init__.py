"""The commands `malmoi evaluate` and `malmoi sweep`."""
