"""`malmoi search I QUERY`: the best texts of an index."""

import re
from typing import Annotated

from cyclopts import Parameter
from rich.cells import cell_len, chop_cells

from malmoi.cli.shared.output import AsJson, Flag, print_json
from malmoi.cli.translation.language import translate
from malmoi.encode.loading import load_encoder
from malmoi.errors import warn
from malmoi.rerank.reranker import load_reranker
from malmoi.search.build import open_index
from malmoi.search.index import RERANK_TOP
from malmoi.search.querying.hits import Hit
from malmoi.search.storage.address import path_or_url

WIDTH, LINES, INDENT = 80, 2, " " * 10


def search_command(
    index: Annotated[
        str, Parameter(help="The folder of an index (malmoi index), or its postgresql:// URL.")
    ],
    query: Annotated[str, Parameter(help="The text to search for.")],
    /,
    *,
    k: Annotated[int, Parameter(name=["-k"], help="How many texts to show.")] = 10,
    filter: Annotated[
        tuple[str, ...],
        Parameter(
            help="Only texts with field=value, field!=value, field>=number …",
            negative="",
            consume_multiple=False,
        ),
    ] = (),
    hybrid: Annotated[bool, Flag, Parameter(help="Search by meaning and by words.")] = False,
    lexical: Annotated[bool, Flag, Parameter(help="Search by words alone (BM25).")] = False,
    weight: Annotated[
        float | None,
        Parameter(help="Weight of words with --hybrid, 0 to 1 (default: as learnt)."),
    ] = None,
    exact: Annotated[bool, Flag, Parameter(help="Compare every vector.")] = False,
    model: Annotated[str | None, Parameter(help="The model of the index, if it has moved.")] = None,
    rerank: Annotated[
        str | None, Parameter(help="A cross-encoder that orders the best texts again.")
    ] = None,
    rerank_top: Annotated[
        int, Parameter(help="How many of the best texts --rerank orders.")
    ] = RERANK_TOP,
    json: AsJson = False,
) -> None:
    """Search an index for the texts that fit a query best."""
    opened = open_index(path_or_url(index), load_encoder(model) if model else None)
    hits = opened.search(query, k, where=filter, hybrid=hybrid, lexical=lexical, exact=exact,
                         weight=weight, rerank=load_reranker(rerank) if rerank else None,
                         rerank_top=rerank_top)  # fmt: skip
    if json:
        used = {} if hits.weight is None else {"weight": hits.weight}
        print_json([{"id": hit.id, "score": round(hit.score, 6), **_before_reranking(hit),
                     "text": hit.text, "fields": dict(hit.fields), "span": hit.span, **used}
                    for hit in hits])  # fmt: skip
        return
    if (translation := opened.state.translation) and not lexical:
        warn(
            f"the vectors are translated from '{translation.before}': recall@10"
            f" {translation.recall:.2f} when that was measured"
        )
    for hit in hits:
        print_hit(hit)
    if not hits:
        print(translate("nothing found"))
    elif hits.weight is not None:
        origin = "given" if weight is not None else "learnt" if opened.state.fusion else "default"
        print(translate(f"weight of words: {hits.weight:.2f} ({origin})"))


def print_hit(hit: Hit) -> None:
    """Print scores, id and span, then two lines of the text or of its best passage."""
    span = "" if hit.span is None else f"  {hit.span[0]}–{hit.span[1]}"
    before = "" if hit.retrieval_score is None else f"  (retrieved: {hit.retrieval_score:.4f})"
    name = _shortened(hit.id, WIDTH - len(INDENT) - len(span) - len(before), 1)[0]
    print(f"{hit.score:8.4f}  {name}{span}{before}")
    for line in _shortened(hit.passage, WIDTH - len(INDENT), LINES):
        print(f"{INDENT}{line}")


def _before_reranking(hit: Hit) -> dict[str, float]:
    """The score before reranking, if there was any."""
    score = hit.retrieval_score
    return {} if score is None else {"retrieval_score": round(score, 6)}


def _shortened(text: str, width: int, most: int) -> list[str]:
    """At most `most` lines of a width in cells, with … at the end if the text is longer."""
    lines = [""]
    for word in re.findall(r"\S+", text):
        for part in chop_cells(word, width):
            joined = f"{lines[-1]} {part}".lstrip()
            if cell_len(joined) <= width:
                lines[-1] = joined
            else:
                lines.append(part)
        if len(lines) > most:
            break
    if len(lines) > most:
        last = lines[most - 1]
        while cell_len(last) > width - 2:
            last = last[:-1]
        lines[most - 1 :] = [f"{last} …"]
    return lines
