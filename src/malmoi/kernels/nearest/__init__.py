"""nearest."""
