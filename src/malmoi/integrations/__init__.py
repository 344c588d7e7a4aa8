"""Adapters to other frameworks, one file each; a file imports its framework, nothing imports it."""
