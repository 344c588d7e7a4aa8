"""Marks in a stream of word ids. Imports nothing, so that all packages can use it cheaply."""

LINE_END = 0xFFFFFFFF  # after the last id of each line
UNKNOWN = 0xFFFFFFFE  # a word that is not in the vocabulary
