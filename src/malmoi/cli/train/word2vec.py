"""`malmoi train word2vec CORPUS --out PATH`: vectors of words that foretell each other."""

from typing import Annotated

from malmoi.cli.shared.output import AsJson
from malmoi.cli.shared.resume import Resume
from malmoi.cli.shared.text_options import Out, Settings, Text, TextOptions
from malmoi.cli.train.word_vectors import InitOptions, train_and_save
from malmoi.train.word2vec.word2vec import Word2Vec, train_word2vec

TEXT, BEGIN, DEFAULT = TextOptions(), InitOptions(), Word2Vec()


def train_word2vec_command(
    corpus: Text,
    /,
    *,
    out: Out,
    resume: Resume = False,
    begin: InitOptions = BEGIN,
    settings: Annotated[Word2Vec, Settings] = DEFAULT,
    options: TextOptions = TEXT,
    json: AsJson = False,
) -> None:
    """Vectors of words that foretell each other: skip-gram or CBOW."""
    train_and_save(train_word2vec, corpus, settings, begin, options, out, resume, json)
