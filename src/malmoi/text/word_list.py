"""A vocabulary as a text file: one word with its count per line, as word2vec's -save-vocab."""

from pathlib import Path

import numpy as np

from malmoi.errors import InvalidFileError
from malmoi.files.output import open_output
from malmoi.files.source import InputFile
from malmoi.keys import Keys
from malmoi.vocabulary import Vocabulary

MAX_COUNT_DIGITS = 18  # so that a count fits into 64 bits


def save_words(vocabulary: Vocabulary, path: Path) -> None:
    """Write words and counts."""
    counts = vocabulary.counts.tolist()
    with open_output(path) as (file,):
        for row, count in enumerate(counts):
            file.write(b"%b %d\n" % (vocabulary.words.bytes_at(row), count))


def load_words(path: Path) -> Vocabulary:
    """Read words and counts; the vocabulary is ordered by count."""
    words: list[bytes] = []
    counts: list[int] = []
    text = b"".join(block.tobytes() for block, _ in InputFile(path).blocks())
    for number, line in enumerate(text.removesuffix(b"\n").split(b"\n"), 1):
        word, _, count = line.rstrip(b"\r").replace(b"\t", b" ").rpartition(b" ")
        if not word or not count.isdigit() or len(count) > MAX_COUNT_DIGITS:
            raise InvalidFileError(f"{path}:{number}: a line must hold a word and its count")
        words.append(word)
        counts.append(int(count))
    return Vocabulary.chosen(Keys.of_bytes(words), np.array(counts, dtype=np.int64), min_count=0)
