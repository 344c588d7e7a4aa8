"""A page of Markdown taken apart: its sections with their code, tables and prose.

Knows nothing about languages: `tests/test_korean_pages.py` compares what is found here.
"""

import re
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path

from tests.pages import slug

CODE = re.compile(r"`[^`]+`")
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
POWERS = {"thousand": 3, "million": 6, "billion": 9, "천만": 7, "천": 3, "만": 4, "억": 8}  # of ten
FIGURE = re.compile(
    rf"(\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:[ -]?({'|'.join(POWERS)}))?"
)


@dataclass
class Section:
    """What stands between one heading and the next."""

    level: int
    title: str
    blocks: list[tuple[str, str]] = field(default_factory=list)  # (language, content)
    tables: list[list[list[str]]] = field(default_factory=list)  # [table][row][cell]
    paragraphs: list[str] = field(default_factory=list)  # an item of a list is one
    items: int = 0

    @property
    def cells(self) -> list[str]:
        return [cell for table in self.tables for row in table for cell in row]

    @property
    def prose(self) -> str:
        """Everything that is read rather than run."""
        return "\n\n".join([self.title, *self.paragraphs, *self.cells])


@cache
def sections(path: Path) -> list[Section]:
    """The sections of a page; the first is empty if the page begins with its heading."""
    found, lines, continued = [Section(0, "")], iter(path.read_text("utf-8").splitlines()), ""
    for line in lines:
        here, previous, continued = found[-1], continued, ""
        if fence := re.match(r"(\s*)```(\w*)$", line):
            content = iter(lambda end=fence[1] + "```": next(lines), fence[1] + "```")
            here.blocks.append((fence[2], "\n".join(content)))
        elif heading := re.match(r"(#+) (.+)$", line):
            found.append(Section(len(heading[1]), heading[2]))
        elif line.startswith("|"):
            row = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
            here.tables += [] if previous == "table" else [[]]
            here.tables[-1].append(row)
            continued = "table"
        elif line.startswith("    ") and previous != "prose":
            here.blocks += [] if previous == "indented" else [("", "")]
            here.blocks[-1] = ("", here.blocks[-1][1] + line + "\n")
            continued = "indented"
        elif line.strip():
            item = re.match(r"\s*(?:[-*]|\d{1,2}\.) ", line)
            here.items += bool(item)
            here.paragraphs += [] if previous == "prose" and not item else [""]
            here.paragraphs[-1] = f"{here.paragraphs[-1]} {line.strip()}".strip()
            continued = "prose"
    return found


def slugs(path: Path) -> list[str]:
    """The anchors of a page's headings."""
    return [slug(section.title) for section in sections(path)]


def links(text: str) -> list[str]:
    """The targets of links and images."""
    return [target for _, target in LINK.findall(CODE.sub("`", text))]


def code_spans(text: str) -> set[str]:
    return set(CODE.findall(text))


def without_targets(text: str) -> str:
    return LINK.sub(r"\1", text)


def figures(text: str) -> set[Decimal]:
    """The numbers of a text written in digits: 4.4 million is the number that 440만 is."""
    return {
        (Decimal(digits.replace(",", "")) * 10 ** POWERS.get(scale, 0)).normalize()
        for digits, scale in FIGURE.findall(without_targets(text))
    }
