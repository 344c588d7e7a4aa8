"""A dot plot: one line per row, and on it a point with an interval for each series."""

from collections.abc import Sequence
from typing import NamedTuple

from malmoi.plots.histogram import ticks
from malmoi.plots.svg import FONT_SIZE, document, dot, line, series_colour, text, text_width

MARGIN, PLOT_WIDTH, SERIES_HEIGHT, ROW_GAP = 14, 420, 14, 10


class IntervalRow(NamedTuple):
    """A label, and per series a value with the bounds of its interval; None where undefined."""

    label: str
    points: Sequence[tuple[float | None, float | None, float | None]]


def interval_plot(rows: Sequence[IntervalRow], series: Sequence[str], *, title: str) -> str:
    """SVG of values with intervals, on one scale for all rows."""
    known = [
        number for row in rows for point in row.points for number in point if number is not None
    ]
    low, high = min(known, default=0.0), max(known, default=1.0)
    low, high = (low, high) if high > low else (low - 0.5, high + 0.5)
    left = MARGIN + max((text_width(row.label) for row in rows), default=0) + 12
    top = MARGIN + (FONT_SIZE + 6) * (2 + len(series))
    height = SERIES_HEIGHT * len(series) + ROW_GAP
    bottom = top + height * len(rows)

    def at(value: float) -> float:
        return left + PLOT_WIDTH * (value - low) / (high - low)

    parts = [text(MARGIN, MARGIN + FONT_SIZE, title)]
    for number, name in enumerate(series):
        base = MARGIN + (FONT_SIZE + 6) * (number + 2)
        parts += [dot(left, base - 4, series_colour(number)), text(left + 10, base, name)]
    for tick in ticks(low, high):
        parts.append(line(at(tick), top, at(tick), bottom))
        parts.append(text(at(tick), bottom + FONT_SIZE + 4, f"{tick:.3g}", anchor="middle"))
    for i, row in enumerate(rows):
        middle = top + height * i + height / 2
        parts.append(text(left - 10, middle + 4, row.label, anchor="end"))
        for number, (value, first, last) in enumerate(row.points):
            y = top + height * i + ROW_GAP / 2 + SERIES_HEIGHT * (number + 0.5)
            if first is not None and last is not None:
                parts.append(line(at(first), y, at(last), y, series_colour(number), 2))
            if value is not None:
                parts.append(dot(at(value), y, series_colour(number)))
    width = max(left + PLOT_WIDTH + 30, MARGIN + text_width(title) + MARGIN)
    return document(width, bottom + 2 * FONT_SIZE + MARGIN, title, parts)
