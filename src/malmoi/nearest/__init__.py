"""The best rows of a matrix for some directions: what asking, searching and looking share."""
