"""gensim's own files: a restricted reader of pickles, and the models and vectors in them."""
