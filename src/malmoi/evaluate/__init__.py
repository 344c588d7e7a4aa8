"""How good vectors are: word similarity, analogies, words with typos; always with n."""
