"""`malmoi train fasttext CORPUS --out PATH`: vectors with subwords."""

from typing import Annotated

from malmoi.cli.shared.output import AsJson
from malmoi.cli.shared.resume import Resume
from malmoi.cli.shared.text_options import CorpusArgument, Out, Settings, TextOptions
from malmoi.cli.train.word_vectors import InitOptions, train_and_save
from malmoi.train.word2vec.fasttext import FastText, train_fasttext

TEXT, INIT, DEFAULT = TextOptions(), InitOptions(), FastText()


def train_fasttext_command(
    corpus: CorpusArgument,
    /,
    *,
    out: Out,
    resume: Resume = False,
    init: InitOptions = INIT,
    settings: Annotated[FastText, Settings] = DEFAULT,
    options: TextOptions = TEXT,
    json: AsJson = False,
) -> None:
    """Word vectors with subwords: unseen words get vectors from their n-grams."""
    train_and_save(train_fasttext, corpus, settings, init, options, out, resume, json)
