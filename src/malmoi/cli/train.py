"""`malmoi train KIND CORPUS --out PATH`: a command for each kind of model."""

from cyclopts import App

KINDS = (
    ("word2vec", "train_word2vec:train_word2vec_command", "Vectors by skip-gram or CBOW."),
    ("fasttext", "train_fasttext:train_fasttext_command", "Vectors with subwords (FastText)."),
    ("glove", "train_glove:train_glove_command", "Vectors from what stands beside what (GloVe)."),
    ("ngram", "train_ngram:train_ngram_command", "An n-gram language model."),
    ("nnlm", "train_nnlm:train_nnlm_command", "A neural language model (extra train)."),
    ("lsa", "train_lsa:train_lsa_command", "Vectors from counts (LSA, PPMI)."),
)

train_app = App(name="train", help="Train a model on your own text.")
for name, place, text in KINDS:
    train_app.command(f"malmoi.cli.{place}", name=name, help=text)
