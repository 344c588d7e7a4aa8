"""`malmoi similarity M A B`: the cosine between two words, and the rank of the second."""

from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, Limit, Model, WordReporter, open_model, print_json
from malmoi.cli.translation.language import translate
from malmoi.query.compare import compare_words


def similarity_command(
    model: Model,
    a: Annotated[str, Parameter(help="A word.")],
    b: Annotated[str, Parameter(help="Another word.")],
    /,
    *,
    limit: Limit = None,
    json: AsJson = False,
) -> None:
    """Print the similarity of two words, from -1 to 1."""
    vectors, reporter = open_model(model, limit), WordReporter()
    similarity, rank = compare_words(vectors, a, b, reporter=reporter)
    if json:
        record = {"a": a, "b": b, "similarity": round(similarity, 6), "rank": rank}
        print_json(record | {"read_as": reporter.read_as})
        return
    print(f"{similarity:.4f}")
    if rank is not None:
        print(translate(f"'{b}' is neighbour {rank:,} of '{a}'"))
