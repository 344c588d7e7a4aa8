"""Texts as points, with their fields to colour by.

Takes plain values, so that any source of texts can be drawn.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from malmoi.project.points.fields import label_field
from malmoi.project.points.points import Points
from malmoi.project.scene import Field
from malmoi.vectors import Vectors

MAX_DETAIL_CHARS = 300  # characters of a text that are shown with its point
NO_VALUE = "no value"


def text_points(
    name: str, vectors: Vectors, texts: Sequence[str], known: Sequence[Mapping[str, object]] = ()
) -> Points:
    """One point per text; `known` are its fields, numbers or labels, which may be missing."""
    names = {field: None for each in known for field in each}
    fields = tuple(make_field(field, [each.get(field) for each in known]) for field in names)
    first = next((field.name for field in fields if is_informative(field)), None)
    return Points(name, vectors, fields, details=[shortened(text) for text in texts], first=first)


def is_informative(field: Field) -> bool:
    """Whether to colour by a field at first: not if nearly each text has its own label."""
    return field.kind == "label" and 2 * len(field.labels) <= len(field.values)


def make_field(name: str, values: Sequence[object]) -> Field:
    """A field of numbers if all present values are numbers, else of labels."""
    present = [value for value in values if value is not None]
    if present and all(
        isinstance(one, int | float) and not isinstance(one, bool) for one in present
    ):
        numbers = [np.nan if value is None else value for value in values]
        return Field(name, "number", np.array(numbers, dtype=np.float64))
    return label_field(name, [NO_VALUE if value is None else str(value) for value in values])


def shortened(text: str) -> str:
    """The beginning of a long text."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_DETAIL_CHARS else f"{line[:MAX_DETAIL_CHARS].rstrip()} …"
