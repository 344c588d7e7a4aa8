"""`malmoi odd-one-out M A B C …`: the word that does not fit."""

from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, Limit, Model, WordReporter, open_model, print_json
from malmoi.query.compare import odd_one_out


def odd_one_out_command(
    model: Model,
    /,
    *words: Annotated[str, Parameter(help="Three or more words.", required=True)],
    limit: Limit = None,
    json: AsJson = False,
) -> None:
    """Print the word that is farthest from the mean of all words."""
    vectors, reporter = open_model(model, limit), WordReporter()
    odd = odd_one_out(vectors, words, reporter=reporter)
    if json:
        print_json({"words": list(words), "odd": odd, "read_as": reporter.read_as})
    else:
        print(odd)
