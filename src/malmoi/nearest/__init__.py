"""Nearest neighbours: the best rows of a matrix for given directions, exactly."""
