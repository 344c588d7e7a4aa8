"""What all kinds of classifiers share: settings, outputs, probabilities and explanations."""
