"""Parsing of bytes: numbers, rows of text and binary files, characters, words."""
