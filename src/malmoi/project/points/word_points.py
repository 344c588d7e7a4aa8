"""Word vectors as points: the most frequent words are drawn, with fields to colour by."""

from pathlib import Path

import numpy as np

from malmoi.errors import InvalidArgumentError
from malmoi.project.points.fields import are_mixed, frequency_fields, script_field, speech_field
from malmoi.project.points.labels import read_labels
from malmoi.project.points.points import Points
from malmoi.vectors import Vectors


def word_points(
    vectors: Vectors,
    name: str,
    *,
    most_frequent: int | None = None,
    labels: str | Path | None = None,
) -> Points:
    """Words as points, with frequency, script and part of speech to colour by.

    Args:
        vectors: The word vectors.
        name: The name of the points, for the title of the page.
        most_frequent: Draw so many words at most; the others are listed as neighbours.
        labels: A file of labels to colour by, with one key, a tab and a label per line.

    Returns:
        The points, for `build_scene`.

    Raises:
        InvalidArgumentError: `most_frequent` is below 1.
        InvalidFileError: The file of labels cannot be read, or labels none of the words.
    """
    if most_frequent is not None and most_frequent < 1:
        raise InvalidArgumentError(f"most_frequent must be at least 1; got {most_frequent}")
    rest: Vectors | None = None
    notes: tuple[str, ...] = ()
    if most_frequent is not None and most_frequent < len(vectors):
        notes = (f"the {most_frequent:,} most frequent of {len(vectors):,} are drawn",)
        vectors, rest = _split(vectors, most_frequent)
    fields = frequency_fields(vectors)
    keys = vectors.keys
    scripts = script_field(keys)
    for field in (scripts, speech_field(keys)):
        fields += () if field is None else (field,)
    first = scripts.name if scripts is not None and are_mixed(scripts) else None
    if labels is not None:
        field, label_notes = read_labels(labels, keys)
        first, fields, notes = field.name, (field, *fields), (*notes, *label_notes)
    return Points(name, vectors, fields, notes=notes, rest=rest, first=first)


def _split(vectors: Vectors, count: int) -> tuple[Vectors, Vectors]:
    """The most frequent words, and the others."""
    if vectors.counts is None:
        return vectors[:count], vectors[count:]
    order = np.argsort(-vectors.counts, kind="stable")
    return vectors.take(order[:count]), vectors.take(order[count:])
