"""`malmoi train KIND CORPUS --out PATH`: one command per kind of model."""

from cyclopts import App

KINDS = (
    ("word2vec", "word2vec:train_word2vec_command", "Vectors by skip-gram or CBOW."),
    ("fasttext", "fasttext:train_fasttext_command", "Vectors with subwords (FastText)."),
    ("glove", "glove:train_glove_command", "Vectors from co-occurrence counts (GloVe)."),
    ("ngram", "ngram:train_ngram_command", "An n-gram language model."),
    ("nnlm", "nnlm:train_nnlm_command", "A neural language model (extra train)."),
    ("elmo", "elmo:train_elmo_command", "A contextual encoder (ELMo, extra train)."),
    ("lsa", "lsa:train_lsa_command", "Vectors from counts (LSA, PPMI)."),
)

train_app = App(name="train", help="Train a model on your own text.")
for name, target, text in KINDS:
    train_app.command(f"malmoi.cli.train.{target}", name=name, help=text)
