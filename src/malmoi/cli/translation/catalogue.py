"""Catalogue: finds the message that an English sentence is an instance of, and translates it.

Values of a message may be messages or phrases themselves ("… is damaged: its checksum is wrong"):
they are translated too, unless they are in quotation marks.
"""

from collections.abc import Iterable, Sequence

from malmoi.cli.translation.po_file import PoEntry
from malmoi.cli.translation.template import Template, fill

BREAKS = ";:,( "  # begin a phrase that follows a value directly
PHRASE = "phrase"  # the context of what is only a part of messages
MAX_DEPTH = 4  # of messages inside messages
MAX_SOURCES = 3  # colons that a message may follow
MIN_LITERAL = 8  # characters: a message with fewer must hold another one
# Placeholders whose values are the user's own, never English words of ours.
OWN = {"command", "file", "folder", "key", "model", "name", "option", "path", "source", "word"}


class Catalogue:
    """Translations by their English templates; the template with the longest text wins."""

    def __init__(self, entries: Iterable[PoEntry]) -> None:
        self._exact: dict[str, str] = {}
        self._values: dict[tuple[str, int], str] = {}  # of the sentence that is translated
        self._messages: list[Template] = []
        self._phrases: list[Template] = []
        for entry in entries:
            if not entry.msgstr:
                continue
            template = Template(entry.msgid, entry.msgstr)
            if not template.names:
                self._exact[template.longest] = fill(entry.msgstr, {})
            else:
                (self._phrases if entry.msgctxt == PHRASE else self._messages).append(template)
        self._messages.sort(key=lambda template: -template.num_literal)
        self._tails = [each for each in self._phrases if each.msgid[0] in BREAKS]
        self._all = sorted(
            self._messages + self._phrases, key=lambda template: -template.num_literal
        )

    def translate(self, sentence: str) -> str:
        """The sentence in Korean; what is unknown of it stays as it is."""
        self._values.clear()
        whole = self._translate(sentence, self._messages, 0)
        return self._after_source(sentence) if whole is None else whole

    def find(self, sentence: str, *, phrases: bool = False) -> Template | None:
        """The template with placeholders that a sentence is an instance of."""
        templates = self._all if phrases else self._messages
        return next((each for each in templates if _fits(each, sentence)), None)

    def _translate(self, text: str, templates: Sequence[Template], depth: int) -> str | None:
        """The translation that leaves the least English; of equal ones, the longest template's."""
        if text in self._exact:
            return self._exact[text]
        candidates = []
        for template in templates:
            if template.longest in text:
                values = template.match(text)
                if values is not None and self._is_sure(template, values, depth):
                    candidates.append(self._fill(template, values, depth))
        return min(candidates, key=_num_latin, default=None)

    def _is_sure(self, template: Template, values: list[str], depth: int) -> bool:
        """Whether a message has enough text of its own, or holds another message."""
        if template.num_literal >= MIN_LITERAL or (depth and template in self._phrases):
            return True
        return any(self._value(value, depth) != value for value in values)

    def _fill(self, template: Template, values: list[str], depth: int) -> str:
        source, colon, first = values[0].partition(": ") if values else ("", "", "")
        if colon and not template.literals[0]:  # "FILE: message"
            return f"{source}: {self._fill(template, [first, *values[1:]], depth)}"
        texts: dict[str, str] = {}
        for i, name in enumerate(template.names):
            if template.is_adjacent(i):
                before, tail = self._split_tail(values[i - 1] + values[i], depth)
                texts[template.names[i - 1]] = self._value(before, depth)
                texts[name] = tail
            elif name in OWN or template.is_quoted(i):
                texts[name] = values[i]
            else:
                texts[name] = self._value(values[i], depth)
        return fill(template.msgstr, texts)

    def _value(self, value: str, depth: int) -> str:
        """A value inside a message: a phrase, a message, a list of phrases, or the user's own."""
        if depth >= MAX_DEPTH or (" " not in value and value not in self._exact):
            return value
        if (value, depth) not in self._values:
            self._values[value, depth] = self._translate_value(value, depth)
        return self._values[value, depth]

    def _translate_value(self, value: str, depth: int) -> str:
        whole = self._translate(value, self._all, depth + 1)
        if whole is not None:
            return whole
        parts = value.split(", ")
        if len(parts) == 1:
            return self._after_source(value, depth + 1)
        return ", ".join(self._value(part, depth + 1) for part in parts)

    def _split_tail(self, value: str, depth: int) -> tuple[str, str]:
        """A value, and the phrase that follows it directly."""
        for i, letter in enumerate(value):
            if letter in BREAKS and depth < MAX_DEPTH:
                tail = self._translate(value[i:], self._tails, depth + 1)
                if tail is not None:
                    return value[:i], tail
        before, bracket, inside = value.rpartition(" (")
        if bracket and value.endswith(")"):
            return before, f"({self._value(inside[:-1], depth + 1)})"
        return value, ""

    def _after_source(self, sentence: str, depth: int = 0) -> str:
        """A message after the name of a file or model: "FILE: message"."""
        parts = sentence.split(": ")
        for i in range(1, min(len(parts), MAX_SOURCES + 1)):
            message = self._translate(": ".join(parts[i:]), self._messages, depth)
            if message is not None:
                return ": ".join([*parts[:i], message])
        return sentence


def _fits(template: Template, sentence: str) -> bool:
    return template.longest in sentence and template.match(sentence) is not None


def _num_latin(text: str) -> int:
    return sum(letter.isascii() and letter.isalpha() for letter in text)
