"""What the projector shows: points of words, texts or senses, with fields and labels."""
