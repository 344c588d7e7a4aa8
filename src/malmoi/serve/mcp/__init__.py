"""A server of the Model Context Protocol: search, embeddings and similarities as tools."""
