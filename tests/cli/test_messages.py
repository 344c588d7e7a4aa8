"""Every message of the command line has its Korean, and each is found again by its English."""

import re
import subprocess
import sys
from unicodedata import is_normalized

from malmoi.cli.translation.catalogue import PHRASE, Catalogue
from malmoi.cli.translation.particles import PARTICLES
from malmoi.cli.translation.template import fill, split_template
from tests.messages.po_catalogue import stored_entries

ENTRIES = stored_entries()
HANGUL = re.compile("[가-힣]")
SAME_IN_KOREAN = {
    "bert-as-service, last-four-sum, last-four-concat.",
    *(
        "fastText .bin",
        "projector TSV",
        "t-SNE",
        "PaCMAP",
        "{num_bytes} MB",
        "{name}, dev {scores}",
    ),
    *("a Reporter", "a Reranker", "an Entry", "a Corpus", "an EmbedSettings"),
    *("the {name}", "the {value} {text}", "at {location}"),
}
GRAMMAR = re.compile(r"s\d*")  # the s of a plural, which Korean has not


def sample(msgid: str) -> str:
    """A sentence of a template, with values that no template has."""
    _, names = split_template(msgid)
    return fill(msgid, {name: f"«{i}»" for i, name in enumerate(names)})


def test_every_message_of_the_sources_is_in_the_catalogue_and_no_other() -> None:
    """In a process of its own: showing a --help changes what the next one shows."""
    checked = subprocess.run([sys.executable, "-m", "tests.messages", "--check"], check=False)
    assert checked.returncode == 0, "run python -m tests.messages"


def test_every_message_has_its_korean() -> None:
    missing = [entry.msgid for entry in ENTRIES if not entry.msgstr]
    assert missing == [], "write their msgstr in malmoi.po"
    english = {entry.msgid for entry in ENTRIES if not HANGUL.search(entry.msgstr)}
    assert english == SAME_IN_KOREAN


def test_korean_has_the_placeholders_of_the_english() -> None:
    for entry in ENTRIES:
        every = set(split_template(entry.msgid)[1])
        needed = {name for name in every if not GRAMMAR.fullmatch(name)}
        assert needed <= set(split_template(entry.msgstr)[1]) - set(PARTICLES) <= every, entry
        assert is_normalized("NFC", entry.msgstr), entry


def test_every_message_is_found_by_its_english() -> None:
    found = Catalogue(ENTRIES)
    wrong = []
    for entry in ENTRIES:
        if split_template(entry.msgid)[1]:
            template = found.find(sample(entry.msgid), phrases=entry.msgctxt == PHRASE)
            if template is None or template.msgid != entry.msgid:
                wrong.append((entry.msgid, template and template.msgid))
    assert wrong == []
