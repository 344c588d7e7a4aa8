"""Shared by the commands: options, output, checkpoints, tables."""
