"""A line plot: one line per series of numbers, over common values of x."""

from collections.abc import Mapping, Sequence

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.errors import InvalidArgumentError
from malmoi.plots.histogram import tick_label, ticks
from malmoi.plots.svg import FONT_SIZE, document, dot, line, series_colour, text, text_width

WIDTH, HEIGHT, LEFT, MARGIN, BOTTOM = 480, 220, 60, 14, 30
LINE = FONT_SIZE + 6


def line_plot(x: Sequence[float], series: Mapping[str, Sequence[float]], *, title: str) -> str:
    """SVG of series of numbers, such as the loss of each epoch.

    Args:
        x: Where the numbers of all series are, in rising order.
        series: The numbers of each series by its name, as many as x has.
        title: Title of the plot.

    Raises:
        InvalidArgumentError: There is no series, x has fewer than two values or does not rise, or
            a series has another length or numbers that are not finite.
    """
    columns, known = _checked(x, series)
    (first, last), (low, high) = (columns[0], columns[-1]), (known.min(), known.max())
    low, high = (low, high) if high > low else (low - 0.5, high + 0.5)
    top = MARGIN + LINE * (1 + len(series)) + FONT_SIZE

    def at(value: float, number: float) -> tuple[float, float]:
        across = LEFT + WIDTH * (value - first) / (last - first)
        return across, top + HEIGHT * (high - number) / (high - low)

    parts = [text(MARGIN, MARGIN + FONT_SIZE, title)]
    for tick in ticks(low, high):
        y = at(first, tick)[1]
        parts += [line(LEFT, y, LEFT + WIDTH, y), tick_label(LEFT - 6, y + 4, tick, "end")]
    for tick in ticks(first, last):
        parts.append(tick_label(at(tick, low)[0], top + HEIGHT + 19, tick, "middle"))
    for number, (name, values) in enumerate(series.items()):
        colour = series_colour(number)
        y = MARGIN + FONT_SIZE + LINE * (number + 1)
        parts += [dot(LEFT + 4, y - 4, colour), text(LEFT + 14, y, name)]
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in map(at, columns, values))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
    width = max(LEFT + WIDTH + 24, MARGIN + text_width(title) + MARGIN)
    return document(width, top + HEIGHT + BOTTOM, title, parts)


def _checked(
    x: Sequence[float], series: Mapping[str, Sequence[float]]
) -> tuple[list[float], Float64Array]:
    columns = [float(value) for value in x]
    if len(columns) < 2 or not (np.diff(columns) > 0).all():
        raise InvalidArgumentError("a line plot needs two or more values of x in rising order")
    if not series:
        raise InvalidArgumentError("a line plot needs at least one series of numbers")
    for name, values in series.items():
        if len(values) != len(columns) or not np.isfinite(np.asarray(values, np.float64)).all():
            raise InvalidArgumentError(
                f"the series '{name}' needs {len(columns)} finite numbers, one per value of x"
            )
    return columns, np.asarray(list(series.values()), np.float64)
