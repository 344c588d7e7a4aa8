"""GloVe: settings, tables of vectors, records of co-occurrences, training."""
