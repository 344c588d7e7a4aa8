"""Test sets for words and sentences: where they are, and how their files are read."""
