"""Text to vectors in context: every layer, mixed and pooled as asked."""
