"""Change the model of an index: embed its texts anew, or translate the vectors it has."""
