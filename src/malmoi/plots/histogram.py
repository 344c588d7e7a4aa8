"""A histogram: how often numbers of each size occur."""

from math import floor, log10

import numpy as np
import numpy.typing as npt

from malmoi.errors import InvalidArgumentError
from malmoi.plots.svg import FONT_SIZE, GREY, box, document, line, shade, text, text_width

BINS = 60
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 540, 220, 60, 58, 30
TICKS = 6  # per axis, about


def histogram(values: npt.ArrayLike, *, title: str, bins: int = BINS) -> str:
    """SVG of the distribution of values, with their count, mean and deviation below the title."""
    numbers = np.asarray(values, np.float64).ravel()
    if len(numbers) == 0 or not np.isfinite(numbers).all():
        raise InvalidArgumentError("a histogram needs at least one value, and finite values")
    counts, edges = np.histogram(numbers, bins=bins)
    first, last, most = float(edges[0]), float(edges[-1]), int(counts.max())
    summary = (
        f"{len(numbers):,} numbers from {numbers.min():.3g} to {numbers.max():.3g},"
        f" mean {numbers.mean():.3g}, standard deviation {numbers.std():.3g}"
    )
    parts = [text(LEFT, 22, title), text(LEFT, 22 + FONT_SIZE + 4, summary, fill="#555")]
    for tick in ticks(0, most):
        y = TOP + HEIGHT * (1 - tick / most)
        parts += [line(LEFT, y, LEFT + WIDTH, y), tick_label(LEFT - 6, y + 4, tick, "end")]
    step, colour = WIDTH / len(counts), shade(0.8)
    for i, count in enumerate(counts.tolist()):
        high = HEIGHT * count / most
        parts.append(box(LEFT + step * i + 0.5, TOP + HEIGHT - high, step - 1, high, colour))
    for tick in ticks(first, last):
        x = LEFT + WIDTH * (tick - first) / (last - first)
        parts += [
            line(x, TOP + HEIGHT, x, TOP + HEIGHT + 5, GREY),
            tick_label(x, TOP + HEIGHT + 19, tick, "middle"),
        ]
    width = max(LEFT + WIDTH + 20, LEFT + text_width(title) + 20, LEFT + text_width(summary) + 20)
    return document(width, TOP + HEIGHT + BOTTOM, title, parts)


def ticks(low: float, high: float) -> list[float]:
    """Round numbers between two others: 1, 2 or 5 of some power of ten apart."""
    rough = (high - low) / TICKS
    power = 10.0 ** floor(log10(rough))
    step = next(power * times for times in (1, 2, 5, 10) if power * times >= rough * 0.999)
    first = int(np.ceil(low / step - 1e-9))
    last = int(np.floor(high / step + 1e-9))
    return [i * step for i in range(first, last + 1)]


def tick_label(x: float, y: float, value: float, anchor: str) -> str:
    """The number beside a tick."""
    return text(x, y, f"{value:,.6g}", anchor=anchor, fill="#555")
