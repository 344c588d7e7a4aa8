"""Texts with labels from files, tables, folders and fastText's format, and checks of them."""
