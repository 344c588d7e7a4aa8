"""`malmoi analogy M "A - B + C"`: the word that completes it."""

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
from malmoi.query.analogy import Method, analogy


def analogy_command(
    model: Model,
    expression: Annotated[str, Parameter(help='In quotes: "king - man + woman"; weights: 2*king.')],
    /,
    *,
    k: Count = 10,
    method: Annotated[Method, Parameter(help="3CosAdd or 3CosMul.")] = "add",
    most_frequent: MostFrequent = None,
    limit: Limit = None,
    json: AsJson = False,
) -> None:
    """The words that an expression comes closest to."""
    vectors = open_model(model, limit)
    notes = WordNotes()
    found = analogy(
        vectors, expression, k, method=method, most_frequent=most_frequent, on_reading=notes
    )
    if json:
        answer = {"asked": expression, "method": method, "answers": as_records(found)}
        print_json(answer | {"read_as": notes.read_as})
        return
    print(expression)
    print_neighbours(found)
