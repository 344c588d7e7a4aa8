"""A dot plot: one line per row, and on it a point with an interval for each series."""

from collections.abc import Sequence
from typing import NamedTuple

from malmoi.plots.histogram import ticks
from malmoi.plots.svg import FONT_SIZE, document, line, text, text_width

MARGIN, PLOT_WIDTH, SERIES_HEIGHT, ROW_GAP = 14, 420, 14, 10
RADIUS = 3.5
COLOURS = ("#0b56a8", "#e0701a", "#2b8a3e", "#7b3fa0", "#b3261e", "#555555")


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
        y = MARGIN + (FONT_SIZE + 6) * (number + 2)
        parts += [_dot(left, y - 4, _colour(number)), text(left + 10, y, name)]
    for tick in ticks(low, high):
        parts.append(line(at(tick), top, at(tick), bottom))
        parts.append(text(at(tick), bottom + FONT_SIZE + 4, f"{tick:.3g}", anchor="middle"))
    for i, row in enumerate(rows):
        middle = top + height * i + height / 2
        parts.append(text(left - 10, middle + 4, row.label, anchor="end"))
        for number, (value, first, last) in enumerate(row.points):
            y = top + height * i + ROW_GAP / 2 + SERIES_HEIGHT * (number + 0.5)
            if first is not None and last is not None:
                parts.append(line(at(first), y, at(last), y, _colour(number), 2))
            if value is not None:
                parts.append(_dot(at(value), y, _colour(number)))
    width = max(left + PLOT_WIDTH + 30, MARGIN + text_width(title) + MARGIN)
    return document(width, bottom + 2 * FONT_SIZE + MARGIN, title, parts)


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _dot(x: float, y: float, fill: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}" fill="{fill}"/>'
