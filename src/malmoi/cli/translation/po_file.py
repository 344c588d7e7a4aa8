"""Reads the .po files of gettext: contexts, messages and their translations.

Plural forms are not read: Korean has none.
"""

import json
from dataclasses import dataclass

KEYWORDS = ("msgctxt", "msgid", "msgstr")


@dataclass(frozen=True)
class PoEntry:
    """A message and its translation; the context `phrase` is that of a part of a message."""

    msgid: str
    msgstr: str
    msgctxt: str = ""


def read_po(text: str) -> list[PoEntry]:
    """The entries of a .po file, without its header."""
    entries: list[PoEntry] = []
    fields: dict[str, str] = {}
    keyword = ""
    for line in [*text.splitlines(), "msgid"]:
        first, _, rest = line.partition(" ")
        if first in KEYWORDS:
            if "msgstr" in fields and first != "msgstr":
                entries.append(PoEntry(**fields))
                fields = {}
            keyword, line = first, rest
            fields[keyword] = ""
        if line.startswith('"'):
            fields[keyword] += json.loads(line)  # its escapes are those of JSON
    return [entry for entry in entries if entry.msgid]
