"""The points of the projector: words, texts or senses, with fields and labels."""
