"""The commands `malmoi train KIND`."""
