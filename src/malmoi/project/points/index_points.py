"""The texts of a search index as points."""

import numpy as np

from malmoi.errors import InvalidArgumentError
from malmoi.project.points.points import Points
from malmoi.project.points.text_points import text_points
from malmoi.search.index import Index


def index_points(index: Index, name: str | None = None, *, limit: int | None = None) -> Points:
    """The texts of an index as points: labelled by how they begin, with their fields.

    Args:
        index: The index; see `build_index` and `open_index`.
        name: The name of the points; by default that of the folder of the index.
        limit: Draw at most so many texts, evenly spaced in the order of the index.

    Returns:
        The points, for `build_scene`. Clusters are named by what is typical of their texts.

    Raises:
        InvalidArgumentError: `limit` is below 1.
    """
    if limit is not None and limit < 1:
        raise InvalidArgumentError(f"limit must be at least 1; got {limit}")
    vectors, entries = index.vectors, list(index.entries())
    notes: tuple[str, ...] = ()
    if limit is not None and limit < len(entries):
        notes = (f"{limit:,} of {len(entries):,} texts are drawn, evenly spaced",)
        drawn = np.linspace(0, len(entries) - 1, limit).astype(np.int64)
        entries, vectors = [entries[row] for row in drawn.tolist()], vectors.take(drawn)
    if name is None:
        name = index.name
    texts, fields = [entry.text for entry in entries], [entry.fields for entry in entries]
    return text_points(name, vectors, texts, fields).with_notes(*notes)
