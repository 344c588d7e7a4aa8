"""Linear classifiers on hashed n-grams, weighted by naive Bayes."""
