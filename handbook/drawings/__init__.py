"""Drawings of the pages as SVG, in both languages; `python -m handbook.drawings` writes them."""
