"""GloVe: co-occurrence records, parameter tables and iterations."""
