"""typos."""
