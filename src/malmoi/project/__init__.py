"""Vectors to a picture of them: points on a plane and in space, and the page that shows them."""
