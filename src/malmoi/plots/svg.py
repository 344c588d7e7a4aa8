"""SVG primitives: document, text, rectangles, colours, and the file."""

import unicodedata
from collections.abc import Iterable
from html import escape
from pathlib import Path

from malmoi.errors import InvalidArgumentError
from malmoi.files.output import open_output
from malmoi.files.targets import check_writable

FONT_SIZE = 12  # pixels
LIGHT, DARK = (0xF1, 0xF6, 0xFB), (0x0B, 0x56, 0xA8)  # the ends of a scale of colours
INK, PALE, GREY = "#222", "#fff", "#888"
SERIES_COLOURS = ("#0b56a8", "#e0701a", "#2b8a3e", "#7b3fa0", "#b3261e", "#555555")
INVALID_XML = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 65534, 65535))


def document(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    """A document on a white background; browsers and screen readers use its title."""
    escaped = escape(_clean(title))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif"'
        f' font-size="{FONT_SIZE}">',
        f"<title>{escaped}</title>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        *parts,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def text(x: float, y: float, content: str, *, anchor: str = "start", fill: str = INK) -> str:
    """A line of text; `anchor` is the part of the line at x: start, middle or end."""
    attributes = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}"'
    return f"<text {attributes}>{escape(_clean(content))}</text>"


def box(x: float, y: float, width: float, height: float, fill: str, edge: str = "none") -> str:
    """A rectangle."""
    attributes = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {attributes} fill="{fill}" stroke="{edge}" stroke-width="2"/>'


def line(
    x: float, y: float, to_x: float, to_y: float, stroke: str = "#ddd", width: float = 1
) -> str:
    """A straight line."""
    path = f"M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"
    return f'<path d="{path}" stroke="{stroke}" stroke-width="{width:g}"/>'


def dot(x: float, y: float, fill: str) -> str:
    """A point of a plot."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{fill}"/>'


def series_colour(number: int) -> str:
    """The colour of a series or a group of a plot; after six they repeat."""
    return SERIES_COLOURS[number % len(SERIES_COLOURS)]


def shade(share: float) -> str:
    """A colour between light (0) and dark (1)."""
    mixed = (round(a + (b - a) * share) for a, b in zip(LIGHT, DARK, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def text_width(content: str) -> float:
    """The approximate width of a line of text; a Korean letter is twice as wide."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in content)
    return FONT_SIZE * (0.56 * (len(content) - wide) + wide)


def check_svg(path: Path) -> None:
    """Raise if a path does not end in .svg or cannot be written, before long work."""
    if path.suffix != ".svg":
        raise InvalidArgumentError(f"{path} is not an SVG file: end its name in .svg")
    check_writable(path)


def write_svg(path: Path, svg: str) -> None:
    """Write the file atomically."""
    check_svg(path)
    with open_output(path) as (file,):
        file.write(svg.encode("utf-8", "replace"))


def _clean(content: str) -> str:
    """Remove characters that XML does not allow."""
    return content.translate(INVALID_XML)
