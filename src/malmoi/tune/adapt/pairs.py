"""Pairs of a query and a text from one document, to learn search without any labels.

The query is the title, or a sentence that is then missing in the text (the inverse cloze task, Lee
et al. 2019), or some words of a document that has one sentence only. Knows nothing of torch.
"""

from random import Random
from typing import NamedTuple

from malmoi.search.pseudo_queries import PseudoQuery, held_out_sentence, some_words
from malmoi.tune.adapt.documents import Document

TITLE_SHARE = 1 / 3  # of the queries of documents that have a title


class TextPair(NamedTuple):
    """A query, and the text that it should find."""

    query: str
    text: str


def make_pair(document: Document, random: Random) -> TextPair:
    """A query and the rest of its document."""
    if document.title and random.random() < TITLE_SHARE:
        return TextPair(document.title, document.text)
    made: PseudoQuery = held_out_sentence(document.text, random) or some_words(
        document.text, random
    )
    rest = document.text if made.rest is None else made.rest
    return TextPair(made.query, f"{document.title} {rest}".strip())
