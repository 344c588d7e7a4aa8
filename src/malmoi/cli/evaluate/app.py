"""`malmoi evaluate M…`: every test that suits each model, in one table."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.evaluate.sentences import sentence_record, sentence_rows, sentence_scores
from malmoi.cli.evaluate.suite import SuiteOptions, evaluate_models
from malmoi.cli.evaluate.words import WordOptions, word_record, word_rows, word_scores
from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.score_table import print_scores
from malmoi.encode.checkpoint.locate import is_encoder
from malmoi.errors import InvalidArgumentError

DEFAULT_OPTIONS, DEFAULT_SUITE = WordOptions(), SuiteOptions()
Tests = Annotated[
    list[str] | None,
    Parameter(
        negative="",
        help="A test set: 'word word score' lines, analogies, or texts with scores. Repeatable.",
    ),
]
ColumnsOption = Annotated[
    str | None, Parameter(help="Columns of the two texts and their score: A,B,SCORE.")
]


def evaluate_command(
    *models: Annotated[
        str,
        Parameter(
            help="Files of vectors, glove-6b-50d, or encoders such as minilm.", required=True
        ),
    ],
    file: Tests = None,
    columns: ColumnsOption = None,
    sentences: Annotated[
        bool, Parameter(negative="", help="Evaluate averages of word vectors on sentences.")
    ] = False,
    options: WordOptions = DEFAULT_OPTIONS,
    suite: SuiteOptions = DEFAULT_SUITE,
    seed: Annotated[int, Parameter(help="Seed of the bootstrap intervals and the typos.")] = 0,
    json: AsJson = False,
) -> None:
    """Evaluate vectors and encoders against human judgements, with 95 % intervals.

    With --suite or files of tasks, all models are evaluated as encoders on these tasks.
    """
    if suite.suite or suite.own_files:
        if columns or replace(options, limit=None) != DEFAULT_OPTIONS:
            raise InvalidArgumentError(
                "a suite takes neither --columns nor options for words: leave them out"
            )
        evaluate_models(models, suite, file or (), limit=options.limit, seed=seed, json=json)
        return
    if suite != DEFAULT_SUITE:
        raise InvalidArgumentError(
            "--plot and --no-cache are for suites: add --suite ko, en or all"
        )
    encoders = [model for model in models if sentences or is_encoder(model)]
    vectors = [model for model in models if model not in encoders]
    if vectors and encoders and file:
        raise InvalidArgumentError(
            f"{vectors[0]} is tested on words, {encoders[0]} on texts: leave --file out"
        )
    if vectors and columns:
        raise InvalidArgumentError(f"--columns is for texts, but {vectors[0]} is tested on words")
    if encoders and options != DEFAULT_OPTIONS:
        raise InvalidArgumentError(
            f"{encoders[0]} is tested on texts: leave the options for words out"
        )
    by_words = word_scores(vectors, file, options, seed) if vectors else []
    by_texts = sentence_scores(encoders, file, columns, seed) if encoders else []
    if json:
        records = {
            **{
                model: word_record(model, scores)
                for model, scores in zip(vectors, by_words, strict=True)
            },
            **{
                model: sentence_record(model, scores)
                for model, scores in zip(encoders, by_texts, strict=True)
            },
        }
        print_json([records[model] for model in models])
        return
    if vectors:
        rows = [word_rows(scores, options.sections) for scores in by_words]
        print_scores([Path(model).name for model in vectors], rows)
    if encoders:
        print_scores([Path(model).name for model in encoders], list(map(sentence_rows, by_texts)))
