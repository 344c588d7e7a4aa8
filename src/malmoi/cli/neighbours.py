"""`malmoi neighbours M WORD…`: the nearest words."""

from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import (
    AsJson,
    Count,
    Limit,
    Model,
    MostFrequent,
    WordNotes,
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
    metric: Annotated[Metric, Parameter(help="What is near.")] = "cosine",
    most_frequent: MostFrequent = None,
    limit: Limit = None,
    json: AsJson = False,
) -> None:
    """The nearest words to each word given."""
    vectors = open_model(model, limit)
    notes = WordNotes()
    answers = neighbours(
        vectors, words, k, metric=metric, most_frequent=most_frequent, on_reading=notes
    )
    if json:
        asked = zip(words, answers, strict=True)
        print_json(
            [
                {
                    "asked": word,
                    "read_as": notes.read_as.get(word, {}),
                    "neighbours": as_records(found),
                }
                for word, found in asked
            ]
        )
        return
    for word, found in zip(words, answers, strict=True):
        print(word)
        print_neighbours(found)
