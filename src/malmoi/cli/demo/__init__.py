"""`malmoi demo`: tours of the library on data that need no download."""
