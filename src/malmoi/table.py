"""Table: rows of a value, shown as text in a terminal and as HTML in a notebook.

Knows nothing about the values. The HTML has no style sheet and inherits its colours from the page,
so that it is readable in light and dark themes.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Self, SupportsIndex, TypeVar, overload

TableCell = str | float | None  # integers are floats to the type checker
Item = TypeVar("Item")

HEAD = 10  # rows of a large value that are shown
HTML_CHARACTERS = 200  # of a cell
TEXT_COLUMNS = 50  # of a cell in a terminal
MIN_FIXED, MAX_FIXED = 1e-3, 1e6  # numbers between have three decimals, others an exponent

LINE = "1px solid rgba(128, 128, 128, 0.4)"
TABLE_STYLE = "border-collapse: collapse; color: inherit; background: transparent"
TITLE_STYLE = "padding: 0.3em 0.6em"
NOTE_STYLE = "padding: 0.3em 0.6em; opacity: 0.7"


@dataclass(frozen=True, repr=False)
class Table:
    """Rows under a header, with a title.

    A column of numbers is aligned to the right. `total` is the number of rows of the whole value
    where only the first are here.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[TableCell]]
    total: int | None = None

    @property
    def note(self) -> str:
        """How many rows are not shown; "" if all are."""
        left_out = (self.total or 0) - len(self.rows)
        return f"… {left_out:,} more" if left_out > 0 else ""

    def is_numeric(self, column: int) -> bool:
        """Whether a column holds numbers alone."""
        cells = [row[column] for row in self.rows if row[column] is not None]
        return bool(cells) and not any(isinstance(cell, str) for cell in cells)

    def html(self) -> str:
        """The table as HTML, with every text escaped."""
        from html import escape

        aligned = ["right" if self.is_numeric(i) else "left" for i in range(len(self.header))]

        def line(tag: str, texts: Iterable[str], rule: str) -> str:
            cells = "".join(
                f'<{tag} style="text-align: {side}; padding: 0.3em 0.6em; {rule}">'
                f"{escape(shortened(text, HTML_CHARACTERS))}</{tag}>"
                for text, side in zip(texts, aligned, strict=True)
            )
            return f"<tr>{cells}</tr>"

        rule = f"border: none; border-bottom: {LINE}"
        head = line("th", self.header, rule) if any(self.header) else ""
        body = "".join(line("td", map(formatted, row), "border: none") for row in self.rows)
        note = f'<div style="{NOTE_STYLE}">{self.note}</div>' if self.note else ""
        title = f'<div style="{TITLE_STYLE}">{escape(self.title)}</div>'
        table = f"<thead>{head}</thead><tbody>{body}</tbody>"
        return f'{title}<table style="{TABLE_STYLE}">{table}</table>{note}'

    def text(self) -> str:
        """The table as lines of text; a wide letter, such as a Korean syllable, has two columns."""
        lines = [[shortened(formatted(cell), TEXT_COLUMNS) for cell in row] for row in self.rows]
        if any(self.header):
            lines.insert(0, list(self.header))
        widths = [max(map(columns, cells)) for cells in zip(*lines, strict=True)]
        numeric = [self.is_numeric(i) for i in range(len(self.header))]
        shown = [self.title]
        for cells in lines:
            padded = [
                " " * (width - columns(cell)) + cell
                if is_right
                else cell + " " * (width - columns(cell))
                for cell, width, is_right in zip(cells, widths, numeric, strict=True)
            ]
            shown.append(f"  {'  '.join(padded)}".rstrip())
        return "\n".join([*shown, f"  {self.note}"] if self.note else shown)

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()


class Tabular:
    """A value that a notebook shows as a table."""

    def _table(self) -> Table:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self._table().html()


class TabularList(list[Item], Tabular):
    """A list that is shown as a table, in a terminal too; a slice of it is one again."""

    @overload
    def __getitem__(self, index: SupportsIndex) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Item | Self:
        if not isinstance(index, slice):
            return super().__getitem__(index)
        part = copy(self)
        part[:] = super().__getitem__(index)
        return part

    def __repr__(self) -> str:
        return self._table().text()


def formatted(cell: TableCell) -> str:
    """A cell as text: numbers with three decimals, integers with commas, None as a dash."""
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return " ".join(cell.split())
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.3f}" if cell == 0 or MIN_FIXED <= abs(cell) < MAX_FIXED else f"{cell:.2e}"


def shortened(text: str, max_columns: int) -> str:
    """A text of at most so many columns, with … for what is left out."""
    used = 0
    for i, letter in enumerate(text):
        used += columns(letter)
        if used > max_columns:
            return f"{text[: i - 1]}…"
    return text


def columns(text: str) -> int:
    """The columns of a text in a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(
        0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text
    )
