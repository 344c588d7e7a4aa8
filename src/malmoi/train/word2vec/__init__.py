"""Word2Vec and FastText: settings, initialization, training, training pairs."""
