"""`malmoi analogy M "A - B + C"`: the word that completes an analogy."""

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
from malmoi.query.analogy import AnalogyMethod, analogy


def analogy_command(
    model: Model,
    expression: Annotated[str, Parameter(help='In quotes: "king - man + woman"; weights: 2*king.')],
    /,
    *,
    k: Count = 10,
    method: Annotated[AnalogyMethod, Parameter(help="3CosAdd or 3CosMul.")] = "add",
    restrict_vocab: RestrictVocab = None,
    limit: Limit = None,
    json: AsJson = False,
) -> None:
    """Print the words nearest to an expression of words."""
    vectors, reporter = open_model(model, limit), WordReporter()
    near = analogy(
        vectors, expression, k, method=method, restrict_vocab=restrict_vocab, reporter=reporter
    )
    if json:
        record = {"query": expression, "method": method, "answers": as_records(near)}
        print_json(record | {"read_as": reporter.read_as})
        return
    print(expression)
    print_neighbours(near)
