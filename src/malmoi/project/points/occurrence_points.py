"""The occurrences of a word in texts as points, each by its vector in context."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from unicodedata import normalize

from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder
from malmoi.errors import InvalidArgumentError
from malmoi.project.points.points import Points
from malmoi.project.points.sense_points import sense_points
from malmoi.query.context import occurrences
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.text.corpus import Corpus

SENTENCE_END = re.compile(r"(?<=[.!?。])\s+")
DEFAULT_SENTENCES = 2000


def occurrence_points(
    encoder: ContextualEncoder,
    word: str,
    texts: Corpus | str | Path | Iterable[str],
    *,
    sentences: int = DEFAULT_SENTENCES,
    seed: int = 1,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Points:
    """Every occurrence of a word in texts as a point, coloured by its sense.

    Args:
        encoder: The model that encodes the word in its sentence; see `load_contextual`.
        word: The word to look for.
        texts: The texts to search: a corpus, a file of one, or texts.
        sentences: How many sentences with the word to encode at most.
        seed: Same seed: same senses.
        reporter: Receives the progress and warnings.

    Returns:
        The points, for `build_scene`; a note says how many senses were found.

    Raises:
        InvalidArgumentError: The word does not occur, or occurs fewer than three times, or
            `sentences` is below 1.
        InvalidFileError: A file of the corpus cannot be read.
    """
    if sentences < 1:
        raise InvalidArgumentError(f"sentences must be at least 1; got {sentences}")
    corpus = texts if isinstance(texts, Corpus) else Corpus.of(texts)
    matching = list(sentences_with(word, corpus))
    if not matching:
        raise InvalidArgumentError(f"'{word}' occurs nowhere in {corpus.name}")
    found_vectors = occurrences(encoder, word, matching[:sentences], reporter=reporter)
    points = sense_points(
        word,
        found_vectors.keys,
        found_vectors.matrix,
        [matching[at] for at in found_vectors.texts],
        seed=seed,
    )
    if len(matching) <= sentences:
        return points
    return points.with_notes(f"of {len(matching):,} sentences that hold it, {sentences:,} are read")


def sentences_with(word: str, documents: Iterable[str]) -> Iterator[str]:
    """The sentences that contain a word, also as part of a longer word."""
    folded = normalize("NFC", word).casefold()
    for document in documents:
        if folded in document.casefold():
            for sentence in SENTENCE_END.split(document):
                if folded in sentence.casefold():
                    yield sentence
