"""Pairs of a query and a text from one document, to learn search without any labels.

The query is the title, or a sentence that is then missing in the text (the inverse cloze task, Lee
et al. 2019), or some words of a document that has one sentence only. Batches hold groups of similar
documents, so that the wrong texts of a batch are hard to tell from the right one. Knows nothing of
torch.
"""

from random import Random
from typing import NamedTuple

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.search.querying.pseudo_queries import PseudoQuery, held_out_sentence, some_words
from malmoi.tune.adapt.documents import Document

TITLE_SHARE = 1 / 3  # of the queries of documents that have a title
WINDOW_WORDS = 80  # a longer text may begin anywhere before its last so many words
WINDOW_SHARE = 1 / 2  # of the longer texts
BUCKET = 4096  # documents among which similar ones are searched


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
    return TextPair(made.query, f"{document.title} {_window(rest, random)}".strip())


def similar_batches(
    vectors: Float32Array, batch_size: int, group: int, seed: tuple[int, int]
) -> list[Int64Array]:
    """The rows of all batches of an epoch, in groups of similar documents.

    `vectors` [documents, dim] are normalized. A batch of one document has no wrong texts, and is
    left out.
    """
    random = np.random.default_rng(seed)
    order, groups = random.permutation(len(vectors)), list[Int64Array]()
    for start in range(0, len(order), BUCKET):
        groups += _groups(order[start : start + BUCKET], vectors, group)
    mixed = [groups[i] for i in random.permutation(len(groups))]
    rows = np.concatenate(mixed)
    batches = [rows[start : start + batch_size] for start in range(0, len(rows), batch_size)]
    return [batch for batch in batches if len(batch) > 1]


def _groups(rows: Int64Array, vectors: Float32Array, size: int) -> list[Int64Array]:
    """Each document that is left, with those most similar to it."""
    cosines = vectors[rows] @ vectors[rows].T
    left, groups = np.ones(len(rows), bool), list[Int64Array]()
    for first in range(len(rows)):
        if left[first]:
            left[first] = False
            near = np.where(left, cosines[first], -np.inf)
            best = np.argsort(-near, kind="stable")[: min(size - 1, int(left.sum()))]
            left[best] = False
            groups.append(rows[np.r_[first, best]])
    return groups


def _window(text: str, random: Random) -> str:
    """A text, or its end from some word on, so that all of a long text is read at times."""
    words = text.split()
    if len(words) <= WINDOW_WORDS or random.random() >= WINDOW_SHARE:
        return text
    return " ".join(words[random.randrange(len(words) - WINDOW_WORDS) :])
