"""HTTP: requests, responses, schemas, authentication and errors."""
