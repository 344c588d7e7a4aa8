"""Evaluation: word similarity, analogies, typo robustness, sentences, retrieval; always with n."""
