"""Pseudo-queries: queries for a text, made from the text itself.

There are two kinds, in turn. Some words of a text, which stays whole, model queries that share
words with the text. A sentence as the query and all other sentences as the text to find (the
inverse cloze task, Lee et al. 2019) model queries that do not. A text of one sentence only has the
first kind. Knows nothing of vectors.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

SENTENCES = re.compile(r"(?<=[.!?。])\s+|\n+")
MIN_SENTENCE_WORDS = 3  # words of a sentence that serves as a query
MIN_SPAN_WORDS, MAX_SPAN_WORDS = 6, 14  # words of the span that a query is drawn from
KEEP_PROBABILITY = 0.6  # of each word of the span
MAX_CONTEXT_CHARS = 5000  # characters on either side of the sentence
SEED = 1


@dataclass(frozen=True)
class PseudoQuery:
    """A query, and the rest of the text that it came from; None where the text stays whole."""

    query: str
    rest: str | None


def make_queries(texts: Sequence[str]) -> list[PseudoQuery]:
    """One pseudo-query per text, deterministically."""
    random = Random(SEED)
    return [
        (at % 2 and held_out_sentence(text, random)) or some_words(text, random)
        for at, text in enumerate(texts)
    ]


def held_out_sentence(text: str, random: Random) -> PseudoQuery | None:
    """A sentence and the rest of the text; None for fewer than two sentences."""
    bounds = [0, *(match.end() for match in SENTENCES.finditer(text)), len(text)]
    spans = [
        (start, stop)
        for start, stop in pairwise(bounds)
        if len(text[start:stop].split()) >= MIN_SENTENCE_WORDS
    ]
    if len(spans) < 2:
        return None
    start, stop = random.choice(spans)
    before, after = (
        text[max(0, start - MAX_CONTEXT_CHARS) : start],
        text[stop : stop + MAX_CONTEXT_CHARS],
    )
    return PseudoQuery(text[start:stop].strip(), before + after)


def some_words(text: str, random: Random) -> PseudoQuery:
    """Some words of a text."""
    words = text.split()
    count = min(len(words), random.randint(MIN_SPAN_WORDS, MAX_SPAN_WORDS))
    start = random.randint(0, len(words) - count)
    span = words[start : start + count]
    return PseudoQuery(
        " ".join([word for word in span if random.random() < KEEP_PROBABILITY] or span), None
    )
