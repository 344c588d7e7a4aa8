"""The database of an index: connections, tables, and the row that describes the index."""
