"""The site: pages of both languages, the API reference and the drawings. `make docs` builds it."""
