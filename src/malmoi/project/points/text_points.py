"""Texts as points, with their fields to colour by.

Takes plain values, so that any source of texts can be drawn.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from malmoi.errors import InvalidArgumentError
from malmoi.project.points.fields import label_field
from malmoi.project.points.points import Points
from malmoi.project.scene import Field
from malmoi.vectors import Vectors

MAX_TEXT_CHARS = 10_000  # characters of a text that a page holds
MAX_PAGE_CHARS = 50_000_000  # characters of all its texts
MIN_TEXT_CHARS = 300  # of each, however many there are
NO_VALUE = "no value"


def text_points(
    name: str, vectors: Vectors, texts: Sequence[str], known: Sequence[Mapping[str, object]] = ()
) -> Points:
    """One point per text, labelled by how the text begins.

    Args:
        name: The name of the points, for the title of the page.
        vectors: One vector per text; the keys are the ids of the texts.
        texts: The texts. The page shows each whole, up to 10,000 characters.
        known: One mapping per text with its fields, to colour by: numbers or labels. A field may
            be missing from some texts.

    Returns:
        The points, for `build_scene`.

    Raises:
        InvalidArgumentError: `texts` or `known` has another length than `vectors`.

    Example:
        encoder = mm.load_encoder("minilm")
        texts = ["The bank is closed.", "Where is a bank?", "It rains."]
        points = mm.text_points("texts", mm.Vectors(texts, encoder.encode(texts)), texts)
    """
    if known and len(known) != len(vectors):
        raise InvalidArgumentError(f"{len(known)} sets of fields for {len(vectors)} texts")
    names = {field: None for each in known for field in each}
    fields = tuple(make_field(field, [each.get(field) for each in known]) for field in names)
    if len(texts) == len(vectors) and all(map(str.__eq__, texts, vectors.keys)):
        return Points(name, vectors, fields)  # texts that are their own keys, such as words
    limit = max(MIN_TEXT_CHARS, min(MAX_TEXT_CHARS, MAX_PAGE_CHARS // max(1, len(texts))))
    points = Points(
        name,
        vectors,
        fields,
        details=[shortened(text, limit) for text in texts],
        labelled_by="text",
    )
    long = sum(len(text) > limit for text in texts)
    if not long:
        return points
    return points.with_notes(f"texts are shown up to {limit:,} characters; longer: {long:,}")


def make_field(name: str, values: Sequence[object]) -> Field:
    """A field of numbers if all present values are numbers, else of labels.

    Two whole numbers, such as 0 and 1, are labels.
    """
    present = [value for value in values if value is not None]
    is_number = all(isinstance(one, int | float) and not isinstance(one, bool) for one in present)
    is_binary = len(set(present)) <= 2 and all(isinstance(one, int) for one in present)
    if present and is_number and not is_binary:
        numbers = [np.nan if value is None else value for value in values]
        return Field(name, "number", np.array(numbers, dtype=np.float64))
    return label_field(name, [NO_VALUE if value is None else str(value) for value in values])


def shortened(text: str, limit: int) -> str:
    """The text, or the beginning of a text that is longer than the limit."""
    text = text.strip()
    return text if len(text) <= limit else f"{text[:limit].rstrip()} …"
