"""Many texts at once: scanning inputs, embedding in chunks, writing files."""
