"""`malmoi similarity M A B`: the cosine between two words, and their ranks."""

from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, Limit, Model, WordNotes, open_model, print_json
from malmoi.query.compare import rank, similarity


def similarity_command(
    model: Model,
    one: Annotated[str, Parameter(help="A word.")],
    other: Annotated[str, Parameter(help="Another.")],
    /,
    *,
    limit: Limit = None,
    json: AsJson = False,
) -> None:
    """How similar two words are, from -1 to 1."""
    vectors = open_model(model, limit)
    notes = WordNotes()
    score = similarity(vectors, one, other, on_reading=notes)
    ranked = other in vectors and vectors.row(other) != vectors.row(one)
    place = rank(vectors, one, other) if ranked else None
    if json:
        answer = {"one": one, "other": other, "similarity": round(score, 6), "rank": place}
        print_json(answer | {"read_as": notes.read_as})
        return
    print(f"{score:.4f}")
    if place is not None:
        print(f"'{other}' is neighbour {place:,} of '{one}'")
