"""Text formats: word2vec's and GloVe's lines."""
