"""Where a text may be broken so that its pieces stay the same: before white space after a word.

No tokenizer of BERT's kind has a piece that goes on past that, nor composes characters across it.
Knows nothing of tokenizers.
"""

import re
from collections.abc import Iterator

BREAK = re.compile(r"(?<=\S)(?=[ \t\n\r])")
BLOCK = 1 << 16  # characters


def head(text: str, size: int) -> str:
    """The text up to its first break after so many characters; all of it where there is none."""
    if len(text) <= size:
        return text
    found = BREAK.search(text, size)
    return text[: found.start()] if found else text


def blocks(text: str, size: int = BLOCK) -> Iterator[tuple[int, str]]:
    """The text in blocks of about so many characters, each with where it begins."""
    start = 0
    while start < len(text):
        found = BREAK.search(text, start + size)
        stop = found.start() if found else len(text)
        yield start, text[start:stop]
        start = stop
