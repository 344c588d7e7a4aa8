"""`malmoi evaluate M…`: every test that fits each model, one table."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.evaluate.sentences import sentence_record, sentence_rows, sentence_scores
from malmoi.cli.evaluate.words import WordOptions, word_record, word_rows, word_scores
from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.score_table import print_scores
from malmoi.encode.checkpoint.locate import is_encoder
from malmoi.errors import InvalidArgumentError

NONE = WordOptions()
Tests = Annotated[
    list[str] | None,
    Parameter(
        negative="",
        help="A test: 'word word score' lines, analogies, or texts with scores. Repeatable.",
    ),
]
Columns = Annotated[
    str | None, Parameter(help="Of two texts and their score, in a table of others: A,B,SCORE.")
]


def evaluate_command(
    *models: Annotated[
        str, Parameter(help="Files of vectors, glove-6b-50d, or encoders: minilm …", required=True)
    ],
    file: Tests = None,
    columns: Columns = None,
    sentences: Annotated[
        bool, Parameter(negative="", help="Test word vectors on texts, averaged.")
    ] = False,
    options: WordOptions = NONE,
    seed: Annotated[int, Parameter(help="Of the draws behind intervals, and of typos.")] = 0,
    json: AsJson = False,
) -> None:
    """Words and sentences as people judge them: how good vectors are, with 95 % intervals."""
    encoders = [model for model in models if sentences or is_encoder(model)]
    vectors = [model for model in models if model not in encoders]
    if vectors and encoders and file:
        raise InvalidArgumentError(
            f"{vectors[0]} is tested on words, {encoders[0]} on texts: name no file"
        )
    if vectors and columns:
        raise InvalidArgumentError(
            f"columns are those of texts, but {vectors[0]} is tested on words"
        )
    if encoders and options != NONE:
        raise InvalidArgumentError(
            f"{encoders[0]} is tested on texts: leave out what is asked of words"
        )
    by_words = word_scores(vectors, file, options, seed) if vectors else []
    by_texts = sentence_scores(encoders, file, columns, seed) if encoders else []
    if json:
        records = {
            **{one: word_record(one, found) for one, found in zip(vectors, by_words, strict=True)},
            **{
                one: sentence_record(one, found)
                for one, found in zip(encoders, by_texts, strict=True)
            },
        }
        print_json([records[model] for model in models])
        return
    if vectors:
        rows = [word_rows(found, options.sections) for found in by_words]
        print_scores([Path(model).name for model in vectors], rows)
    if encoders:
        print_scores([Path(model).name for model in encoders], list(map(sentence_rows, by_texts)))
