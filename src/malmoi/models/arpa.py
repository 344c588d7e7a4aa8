"""Reads ARPA files: n-gram models as text, the format that SRILM, KenLM and others exchange.

    \\data\\
    ngram 1=13
    ngram 2=15
    \\1-grams:
    log10 probability, tab, word, tab, log10 back-off weight
    \\2-grams:
    log10 probability, tab, word, space, word
    \\end\\

White space separates words. A missing back-off weight is 1, and -99 is the logarithm of 0.
`<s>` has no probability of its own. The module does not open or decompress files.
"""

import re
from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple, NoReturn

import numpy as np

from malmoi.arrays import Float64Array, UInt32Array
from malmoi.errors import InvalidFileError
from malmoi.kernels.counts.count_ngrams import pack
from malmoi.keys import Keys
from malmoi.models.ngram_model import NgramModel
from malmoi.models.sentences import BEGIN, END, UNKNOWN_WORD
from malmoi.models.trie import Trie

LOG_OF_ZERO = -99.0
SPACES = b" \t\n\r\v\f\0"
MARKS = [mark.encode() for mark in (UNKNOWN_WORD, BEGIN, END)]
OTHER_UNKNOWN = b"<UNK>"
SIZE = re.compile(rb"ngram\s+(\d+)\s*=\s*(\d+)")


class ArpaLines:
    """Iterates over the lines of a file and counts them."""

    def __init__(self, stream: Iterable[bytes], name: str) -> None:
        self.name = name
        self.number = 0
        self.last = b""
        self._remaining = iter(stream)

    def __iter__(self) -> Iterator[bytes]:
        for line in self._remaining:
            self.number, self.last = self.number + 1, line
            yield line
        self.last = b""

    def next_nonblank(self) -> bytes:
        """Return the next line that is not blank, without surrounding spaces."""
        for line in self:
            if stripped := line.strip(SPACES):
                return stripped
        raise InvalidFileError(
            f"{self.name}:{self.number}: the file is truncated: it has no \\end\\ line"
        )

    def fail(self, message: str, number: int | None = None) -> NoReturn:
        """Raise an error about a line, by default the last one read."""
        raise InvalidFileError(f"{self.name}:{number or self.number}: {message}")


class ArpaSection(NamedTuple):
    """The n-grams of one order, in the file's order."""

    ids: UInt32Array  # [n-grams, order]
    probabilities: Float64Array
    backoffs: Float64Array
    first_line: int  # line number of the first n-gram


def read_arpa(stream: Iterable[bytes], name: str) -> NgramModel:
    """Parse the lines of an ARPA file.

    Args:
        stream: the lines, with or without line ends.
        name: the file's name in error messages.

    Returns:
        The model.

    Raises:
        InvalidFileError: a line is malformed or the file is truncated; names the line.
    """
    lines = ArpaLines(stream, name)
    sizes, heading = read_sizes(lines)
    rows: dict[bytes, int] = {}
    sections: list[ArpaSection] = []
    for order, size in enumerate(sizes, 1):
        if heading != b"\\%d-grams:" % order:
            lines.fail(f"expected \\{order}-grams:, got '{excerpt(heading)}'")
        sections.append(read_section(lines, order, size, rows))
        heading = lines.last.strip(SPACES) or lines.next_nonblank()
    if heading != b"\\end\\":
        lines.fail(f"expected \\end\\, got '{excerpt(heading)}'")
    trie, table = word_trie(rows, sections[0])
    tables = [table]
    for section in sections[1:]:
        trie, table = add_order(lines, trie, section)
        tables.append(table)
    probabilities, backoffs = zip(*tables, strict=True)
    return NgramModel(trie, probabilities, backoffs[:-1])


def read_sizes(lines: ArpaLines) -> tuple[list[int], bytes]:
    """Return the declared number of n-grams of each order, and the line after them."""
    if not any(line.strip(SPACES) == b"\\data\\" for line in lines):
        lines.fail("this is not an ARPA file: it has no \\data\\ line", 1)
    sizes: list[int] = []
    while declared := SIZE.fullmatch(heading := lines.next_nonblank()):
        if int(declared[1]) != len(sizes) + 1:
            lines.fail(f"expected the count of order {len(sizes) + 1}, got '{excerpt(heading)}'")
        sizes.append(int(declared[2]))
    if not sizes:
        lines.fail(f"expected 'ngram 1=…', got '{excerpt(heading)}'")
    return sizes, heading


def read_section(lines: ArpaLines, order: int, size: int, rows: dict[bytes, int]) -> ArpaSection:
    """Read the n-grams of one order; the 1-grams assign a row to each word."""
    ids, probabilities, backoffs = array("I"), array("d"), array("d")
    first_line, row_of = lines.number + 1, rows.__getitem__
    for line in lines:
        fields = line.split()
        if not fields or fields[0].startswith(b"\\"):
            break
        try:
            probabilities.append(float(fields[0]))
            backoffs.append(float(fields[order + 1]) if len(fields) > order + 1 else 0.0)
            if order == 1:
                if fields[1] in rows:
                    lines.fail(f"duplicate 1-gram '{excerpt(fields[1])}'")
                rows[fields[1]] = len(rows)
            ids.extend(map(row_of, fields[1 : order + 1]))
        except KeyError as error:
            lines.fail(f"'{excerpt(error.args[0])}' is not among the 1-grams")
        except (ValueError, IndexError):
            lines.fail(f"'{excerpt(line)}' is not a {order}-gram with its probability")
        if not order < len(fields) <= order + 2:
            lines.fail(f"'{excerpt(line)}' is not a {order}-gram: it has {len(fields)} fields")
    if len(probabilities) != size:
        lines.fail(f"{len(probabilities):,} {order}-grams, but \\data\\ declares {size:,}")
    section = ArpaSection(
        np.array(ids, dtype=np.uint32).reshape(-1, order),
        from_log10(np.array(probabilities)),
        from_log10(np.array(backoffs)),
        first_line,
    )
    valid = (section.probabilities <= 1) & np.isfinite(section.backoffs)
    if not valid.all():
        invalid = int(np.argmin(valid))
        lines.fail(
            "not base-10 logarithms of a probability and a back-off weight", first_line + invalid
        )
    return section


def word_trie(
    rows: dict[bytes, int], section: ArpaSection
) -> tuple[Trie, tuple[Float64Array, Float64Array]]:
    """Build the trie of words with their (probabilities, back-offs); adds missing marks."""
    words = list(rows)
    if MARKS[0] not in rows and OTHER_UNKNOWN in rows:
        words[rows[OTHER_UNKNOWN]] = MARKS[0]
    added = [mark for mark in MARKS if mark not in words]
    trie = Trie(Keys.of_bytes(words + added), ())
    probabilities = np.r_[section.probabilities, np.zeros(len(added))]
    probabilities[trie.begin] = 0
    return trie, (probabilities, np.r_[section.backoffs, np.ones(len(added))])


def add_order(
    lines: ArpaLines, trie: Trie, section: ArpaSection
) -> tuple[Trie, tuple[Float64Array, Float64Array]]:
    """Extend the trie by one order; returns it with the (probabilities, back-offs) of its rows."""
    contexts = section.ids[:, 0].astype(np.int64)
    for order in range(2, trie.order + 1):
        contexts = trie.find(order, contexts, section.ids[:, order - 1])
    if len(missing := np.flatnonzero(contexts < 0)):
        lines.fail(
            "the prefix of this n-gram is not in the file",
            section.first_line + int(missing[0]),
        )
    packed = pack(contexts, section.ids[:, -1])
    sorting = np.argsort(packed, kind="stable")
    packed = packed[sorting]
    if len(repeated := np.flatnonzero(packed[1:] == packed[:-1])):
        lines.fail("duplicate n-gram", section.first_line + int(sorting[repeated[0] + 1]))
    longer = Trie(trie.words, (*trie.packed, packed))
    return longer, (section.probabilities[sorting], section.backoffs[sorting])


def from_log10(logs: Float64Array) -> Float64Array:
    """Return 10 to the power of each number; LOG_OF_ZERO and less become 0."""
    with np.errstate(over="ignore"):
        return np.where(logs <= LOG_OF_ZERO, 0.0, 10.0**logs)


def excerpt(text: bytes) -> str:
    """Return the first characters of a line, for an error message."""
    return text.strip(SPACES)[:40].decode("utf-8", "replace")
