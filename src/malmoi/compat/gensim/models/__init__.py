"""Word2Vec and FastText as in gensim: vocabulary, training, predictions, files."""
