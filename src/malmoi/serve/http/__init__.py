"""The HTTP side of the server: schemas, authentication, limits, errors and endpoints."""
