"""The commands `malmoi tune KIND`."""
