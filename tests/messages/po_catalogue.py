"""All messages that need a Korean translation, and the .po file that has them."""

import json
from pathlib import Path

from malmoi.cli.translation.catalogue import PHRASE
from malmoi.cli.translation.po_file import PoEntry, read_po
from tests.messages.extraction import Extraction, Message
from tests.messages.foreign import FOREIGN, WORDS
from tests.messages.help_texts import help_texts
from tests.messages.sources import ROOT, Sources
from tests.messages.templates import escaped

PO_FILE = ROOT / "locale" / "ko" / "LC_MESSAGES" / "malmoi.po"
HEADER = """\
# The Korean messages of the malmoi command; python -m tests.messages renews this file.
msgid ""
msgstr ""
"Language: ko\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"""


def all_messages() -> list[Message]:
    """The texts of --help first, then those of the packages we use, then the sources by file."""
    texts = [Message(escaped(text), ["--help"]) for text in help_texts()]
    foreign = [Message(text, ["cyclopts"]) for text in FOREIGN]
    words = [Message(text, ["words"], is_phrase=True) for text in WORDS]
    known = {message.template for message in (*texts, *words)}
    found = [each for each in Extraction(Sources()).run() if each.template not in known]
    found.sort(key=lambda each: (min(each.files), each.template))
    return [*texts, *foreign, *words, *found]


def renewed(messages: list[Message], text: str) -> str:
    """The .po file of these messages, with the translations of an older one."""
    korean = {entry.msgid: entry.msgstr for entry in read_po(text)}
    blocks = [HEADER]
    for message in messages:
        lines = [f"#: {' '.join(sorted(message.files))}"]
        if message.is_phrase:
            lines.append(f'msgctxt "{PHRASE}"')
        lines.append(f"msgid {_quoted(message.template)}")
        lines.append(f"msgstr {_quoted(korean.get(message.template, ''))}")
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def stored_entries(path: Path = PO_FILE) -> list[PoEntry]:
    """The entries of the .po file in the package."""
    return read_po(path.read_text("utf-8"))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
