"""Text formats: one line per word, `key number … number`."""
