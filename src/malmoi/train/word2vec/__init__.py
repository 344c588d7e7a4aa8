"""Word2Vec and FastText: settings, vocabulary rows, epochs and results."""
