"""KeyedVectors as in gensim: storage, queries, evaluations, files of word2vec."""
