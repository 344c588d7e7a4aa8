"""Pages that are one HTML file: the projector's, and the report of a comparison."""
