"""Canvas: boxes, texts and arrows as an SVG that follows the reader's light or dark mode."""

from collections.abc import Callable
from html import escape

Say = Callable[[str, str], str]  # of an English and a Korean text, that of the language

STYLE = """
    .panel { fill: #ffffff }
    text { fill: #333333; text-anchor: middle; dominant-baseline: central }
    .start { text-anchor: start } .end { text-anchor: end }
    .note { fill: #6b6b6b; font-size: 12px }
    .small { font-size: 12px } .bold { font-weight: bold } .faint { fill: #8a8a8a }
    .box { fill: none; stroke: #8a8a8a; stroke-width: 1.4 }
    .dashed { stroke-dasharray: 4 4 }
    .blue { stroke: #0b66c3 } .brown { stroke: #b3541e } .green { stroke: #2b7a4b }
    .filled.blue { fill: #0b66c3 } .filled.brown { fill: #b3541e } .filled.green { fill: #2b7a4b }
    .filled.grey { fill: #c9c9c9; stroke: none }
    text.inside { fill: #ffffff }
    .line { fill: none; stroke: #8a8a8a; stroke-width: 1.4 }
    .line.blue { stroke: #0b66c3 } .line.brown { stroke: #b3541e } .line.green { stroke: #2b7a4b }
    @media (prefers-color-scheme: dark) {
      .panel { fill: #1d1f24 }
      text { fill: #dddddd } .note { fill: #a8a8a8 } .faint { fill: #909090 }
      .blue, .line.blue { stroke: #5aa9f5 } .brown, .line.brown { stroke: #f2955c }
      .green, .line.green { stroke: #6cc492 }
      .filled.grey { fill: #4a4d55 }
    }"""


class Canvas:
    """A drawing of a size, with a title that screen readers say."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.texts: list[tuple[float, float, str, str]] = []  # for tests: x, y, text, style
        self._shapes: list[str] = []

    def text(self, x: float, y: float, text: str, style: str = "") -> None:
        """A text around a point."""
        self.texts.append((x, y, text, style))
        kind = f' class="{style}"' if style else ""
        self._shapes.append(f'<text{kind} x="{x:g}" y="{y:g}">{escape(text)}</text>')

    def box(
        self, x: float, y: float, width: float, height: float, label: str = "", style: str = ""
    ) -> None:
        """A rectangle with a label; `filled` ones have white labels."""
        self._shapes.append(
            f'<rect class="{f"box {style}".strip()}" x="{x:g}" y="{y:g}" width="{width:g}"'
            f' height="{height:g}" rx="4"/>'
        )
        if label:
            inside = "inside" if "filled" in style and "grey" not in style else ""
            self.text(x + width / 2, y + height / 2, label, inside)

    def circle(self, x: float, y: float, radius: float, label: str = "", style: str = "") -> None:
        """A circle with a label."""
        kind = f"box {style}".strip()
        self._shapes.append(f'<circle class="{kind}" cx="{x:g}" cy="{y:g}" r="{radius:g}"/>')
        if label:
            self.text(x, y, label)

    def line(self, path: str, style: str = "") -> None:
        """A path of SVG, such as `M0 0L10 10`."""
        self._shapes.append(f'<path class="{f"line {style}".strip()}" d="{path}"/>')

    def arrow(self, x: float, y: float, to_x: float, to_y: float, style: str = "") -> None:
        """A straight arrow."""
        self.curve(f"M{x:g} {y:g}L{to_x:g} {to_y:g}", style)

    def curve(self, path: str, style: str = "") -> None:
        """A path that ends in an arrow head."""
        kind = f"line {style}".strip()
        self._shapes.append(f'<path class="{kind}" d="{path}" marker-end="url(#tip)"/>')

    def svg(self) -> str:
        """The whole file."""
        shapes = "\n".join(f"  {shape}" for shape in self._shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}"'
            f' width="{self.width}" font-family="sans-serif" font-size="15">\n'
            f"  <title>{escape(self.title)}</title>\n  <style>{STYLE}\n  </style>\n"
            '  <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7"'
            ' markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="context-stroke"/>'
            f'</marker></defs>\n  <rect class="panel" width="{self.width}" height="{self.height}"'
            f' rx="8"/>\n{shapes}\n</svg>\n'
        )
