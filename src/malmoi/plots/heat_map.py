"""A heat map: a table of numbers, shaded by value."""

from collections.abc import Sequence

from malmoi.plots.svg import FONT_SIZE, INK, PALE, box, document, shade, text, text_width

CELL_WIDTH, CELL_HEIGHT, MARGIN = 66, 26, 14
LINE = FONT_SIZE + 4
WHITE_TEXT_ABOVE = 0.5  # share of the darkest shade
MISSING_COLOUR = "#e6e6e6"


def heat_map(
    values: Sequence[Sequence[float | None]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    digits: int = 3,
    best: tuple[int, int] | None = None,
) -> str:
    """SVG of values [rows, columns]; None is grey, and `best` gets an edge.

    The name of a column may have several lines.
    """
    known = [value for row in values for value in row if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    heads = [name.split("\n") for name in columns]
    left = MARGIN + max(map(text_width, rows), default=0) + 10
    top = MARGIN + LINE * (1.8 + max(map(len, heads), default=0))
    width = max(left + CELL_WIDTH * len(columns), MARGIN + text_width(title)) + MARGIN
    parts = [text(MARGIN, MARGIN + FONT_SIZE, title)]
    for j, lines in enumerate(heads):
        middle = left + CELL_WIDTH * (j + 0.5)
        first = top - 8 - LINE * (len(lines) - 1)
        for i, line in enumerate(lines):
            parts.append(text(middle, first + LINE * i, line, anchor="middle"))
    edge = []
    for i, (name, row) in enumerate(zip(rows, values, strict=True)):
        y = top + CELL_HEIGHT * i
        parts.append(text(left - 8, y + 17, name, anchor="end"))
        for j, value in enumerate(row):
            x = left + CELL_WIDTH * j
            share = 0.0 if value is None or high == low else (value - low) / (high - low)
            fill = MISSING_COLOUR if value is None else shade(share)
            parts.append(box(x + 1, y + 1, CELL_WIDTH - 2, CELL_HEIGHT - 2, fill))
            label = "—" if value is None else f"{value:.{digits}f}"
            ink = PALE if share > WHITE_TEXT_ABOVE else INK
            parts.append(text(x + CELL_WIDTH / 2, y + 17, label, anchor="middle", fill=ink))
            if (i, j) == best:
                edge = [box(x + 1, y + 1, CELL_WIDTH - 2, CELL_HEIGHT - 2, "none", "#e0701a")]
    return document(width, top + CELL_HEIGHT * len(rows) + MARGIN, title, [*parts, *edge])
