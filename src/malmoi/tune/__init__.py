"""Tuning: a sentence encoder becomes better at your own pairs, scores or classes, with torch."""
