"""`malmoi train word2vec CORPUS --out PATH`: word vectors that predict their context."""

from typing import Annotated

from malmoi.cli.shared.output import AsJson
from malmoi.cli.shared.resume import Resume
from malmoi.cli.shared.text_options import CorpusArgument, Out, Settings, TextOptions
from malmoi.cli.train.word_vectors import InitOptions, train_and_save
from malmoi.train.word2vec.word2vec import Word2Vec, train_word2vec

TEXT, INIT, DEFAULT = TextOptions(), InitOptions(), Word2Vec()


def train_word2vec_command(
    corpus: CorpusArgument,
    /,
    *,
    out: Out,
    resume: Resume = False,
    init: InitOptions = INIT,
    settings: Annotated[Word2Vec, Settings] = DEFAULT,
    options: TextOptions = TEXT,
    json: AsJson = False,
) -> None:
    """Word vectors that predict the words around them: skip-gram or CBOW."""
    train_and_save(train_word2vec, corpus, settings, init, options, out, resume, json)
