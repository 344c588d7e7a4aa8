"""The pieces of an SVG document: text, rectangles, colours, and the file.

Knows nothing of what is drawn.
"""

import unicodedata
from collections.abc import Iterable
from html import escape
from pathlib import Path

from malmoi.errors import InvalidArgumentError
from malmoi.files.output import open_output
from malmoi.files.targets import check_writable

SIZE = 12  # of letters
LIGHT, DARK = (0xF1, 0xF6, 0xFB), (0x0B, 0x56, 0xA8)  # the ends of a scale of colours
INK, PALE, GREY = "#222", "#fff", "#888"
UNWRITABLE = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 65534, 65535))


def document(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    """A whole document on white ground; its title is what a browser and a blind reader say."""
    said = escape(_clean(title))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="{SIZE}">',
        f"<title>{said}</title>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        *parts,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def text(x: float, y: float, said: str, *, anchor: str = "start", fill: str = INK) -> str:
    """A line of text; `anchor` says which end of it stands at x: start, middle or end."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}"'
    return f"<text {place}>{escape(_clean(said))}</text>"


def box(x: float, y: float, width: float, height: float, fill: str, edge: str = "none") -> str:
    """A rectangle."""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} fill="{fill}" stroke="{edge}" stroke-width="2"/>'


def shade(share: float) -> str:
    """A colour between light (0) and dark (1)."""
    mixed = (round(a + (b - a) * share) for a, b in zip(LIGHT, DARK, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def text_width(said: str) -> float:
    """About how wide a line of text is; a Korean letter takes two."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in said)
    return SIZE * (0.56 * (len(said) - wide) + wide)


def check_svg(path: Path) -> None:
    """Refuse a name that promises something else or a place that is none, before long work."""
    if path.suffix != ".svg":
        raise InvalidArgumentError(f"{path} is no place for a picture: end its name in .svg")
    check_writable(path)


def write_svg(path: Path, drawn: str) -> None:
    """The file is whole or not there."""
    check_svg(path)
    with open_output(path) as (file,):
        file.write(drawn.encode("utf-8", "replace"))


def _clean(said: str) -> str:
    """Without what no XML may hold."""
    return said.translate(UNWRITABLE)
