"""The network of the BERT family for training, with torch."""
