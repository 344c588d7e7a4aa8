"""A scatter plot: points in a plane, each with its label, in the colour of its group."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from malmoi.errors import InvalidArgumentError
from malmoi.plots.svg import FONT_SIZE, document, dot, series_colour, text, text_width

MARGIN, SIDE = 14, 560  # pixels
LINE = FONT_SIZE + 6


def scatter_plot(
    points: npt.ArrayLike,
    labels: Sequence[str],
    groups: Sequence[str] | None = None,
    *,
    title: str,
) -> str:
    """SVG of points [n, 2] with labels; both axes have the same scale, so that distances are true.

    Args:
        points: Two numbers per point.
        labels: One per point.
        groups: The group of each point, which is its colour; one colour if not given.
        title: Title of the plot.

    Raises:
        InvalidArgumentError: There are no points, one of them is not two finite numbers, or it
            lacks a label or a group.
    """
    table = np.asarray(points, np.float64)
    if table.ndim != 2 or table.shape[1] != 2 or not len(table) or not np.isfinite(table).all():
        raise InvalidArgumentError(
            f"points are {table.shape}: a scatter plot needs two finite numbers per point"
        )
    kinds = [""] * len(table) if groups is None else list(groups)
    if not len(labels) == len(kinds) == len(table):
        raise InvalidArgumentError(
            f"{len(table)} points have {len(labels)} labels and {len(kinds)} groups:"
            " give one of each per point"
        )
    names = list(dict.fromkeys(kinds))
    shown = [name for name in names if name]
    top = MARGIN + LINE * (1 + len(shown)) + FONT_SIZE
    low = table.min(axis=0)
    scale = SIDE / (float(np.ptp(table, axis=0).max()) or 1.0)
    height = float(np.ptp(table[:, 1])) * scale
    parts = [text(MARGIN, MARGIN + FONT_SIZE, title)]
    for number, name in enumerate(shown):
        y = MARGIN + FONT_SIZE + LINE * (number + 1)
        parts += [
            dot(MARGIN + 4, y - 4, series_colour(names.index(name))),
            text(MARGIN + 14, y, name),
        ]
    for (x, y), label, kind in zip((table - low) * scale, labels, kinds, strict=True):
        left, base = MARGIN + 4 + x, top + height - y  # the second axis points up
        colour = series_colour(names.index(kind))
        parts += [dot(left, base, colour), text(left + 7, base + 4, label, fill=colour)]
    right = max(
        x + text_width(label)
        for x, label in zip((table[:, 0] - low[0]) * scale, labels, strict=True)
    )
    width = max(right + 2 * MARGIN + 12, MARGIN + text_width(title) + MARGIN)
    return document(width, top + height + MARGIN + 4, title, parts)
