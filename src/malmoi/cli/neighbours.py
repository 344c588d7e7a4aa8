"""`malmoi neighbours M WORD…`: the nearest words."""

from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import (
    AsJson,
    Count,
    Limit,
    Model,
    RestrictVocab,
    WordReporter,
    as_records,
    open_model,
    print_json,
    print_neighbours,
)
from malmoi.nearest.top_k import Metric
from malmoi.query.neighbours import neighbours


def neighbours_command(
    model: Model,
    /,
    *words: Annotated[str, Parameter(help="One or more words.", required=True)],
    k: Count = 10,
    metric: Annotated[Metric, Parameter(help="Distance metric.")] = "cosine",
    restrict_vocab: RestrictVocab = None,
    limit: Limit = None,
    json: AsJson = False,
) -> None:
    """Print the nearest words of each word."""
    vectors, reporter = open_model(model, limit), WordReporter()
    results = neighbours(
        vectors, words, k, metric=metric, restrict_vocab=restrict_vocab, reporter=reporter
    )
    if json:
        print_json(
            [
                {
                    "query": word,
                    "read_as": reporter.read_as.get(word, {}),
                    "neighbours": as_records(near),
                }
                for word, near in zip(words, results, strict=True)
            ]
        )
        return
    for word, near in zip(words, results, strict=True):
        print(word)
        print_neighbours(near)
