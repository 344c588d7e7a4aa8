"""Damaged files by the thousand: what is damaged, how, and what must not come of it."""
