"""Template: a message with placeholders, matched against an English sentence.

Matching looks for the literals from left to right, so it takes linear time.
"""

from collections.abc import Mapping
from string import Formatter

from malmoi.cli.translation.particles import PARTICLES, with_particle

QUOTES = "'\"`"


class Template:
    """An English message: literals, and the names of the placeholders between them."""

    def __init__(self, msgid: str, msgstr: str) -> None:
        self.msgid, self.msgstr = msgid, msgstr
        self.literals, self.names = split_template(msgid)
        self.longest = max(self.literals, key=len)
        self.num_literal = sum(map(len, self.literals))

    def match(self, sentence: str) -> list[str] | None:
        """The values of the placeholders in order; None if the sentence is another message."""
        first, *others = self.literals
        if not others:
            return [] if sentence == first else None
        *inner, last = others
        end = len(sentence) - len(last)
        if not (sentence.startswith(first) and sentence.endswith(last)) or end < len(first):
            return None
        values, start = [], len(first)
        for literal in inner:
            # Adjacent placeholders have no literal between them: the first takes all.
            position = sentence.find(literal, start, end) if literal else end
            if position < 0:
                return None
            values.append(sentence[start:position])
            start = position + len(literal)
        return [*values, sentence[start:end]]

    def is_quoted(self, i: int) -> bool:
        """Whether placeholder `i` is in quotation marks: then its value is the user's own."""
        before, after = self.literals[i][-1:], self.literals[i + 1][:1]
        return before != "" and before in QUOTES and before == after

    def is_adjacent(self, i: int) -> bool:
        """Whether placeholder `i` follows the one before directly."""
        return i > 0 and not self.literals[i]


def split_template(template: str) -> tuple[list[str], list[str]]:
    """The literals of a template, and the names of the placeholders between them."""
    literals, names = [""], []
    for literal, name, _, _ in Formatter().parse(template):
        literals[-1] += literal
        if name is not None:
            names.append(name)
            literals.append("")
    return literals, names


def fill(msgstr: str, values: Mapping[str, str]) -> str:
    """A translation with its values; a particle such as {은} takes the form that fits the text."""
    literals, names = split_template(msgstr)
    text = literals[0]
    for name, literal in zip(names, literals[1:], strict=True):
        text += with_particle(text, name) if name in PARTICLES else values[name]
        text += literal
    return text
