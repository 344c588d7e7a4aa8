"""Several classifiers as one, by stacking: a logistic regression on their scores."""
