"""Marks in a stream of ids: what is no word. (Imports nothing, so that anyone may ask.)"""

LINE_END = 0xFFFFFFFF  # after the last id of each line
UNKNOWN = 0xFFFFFFFE  # a word that is not in the vocabulary
