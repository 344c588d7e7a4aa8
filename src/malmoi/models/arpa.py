"""ARPA files: n-gram models as text, the way SRILM, KenLM and others exchange them.

    \\data\\
    ngram 1=13
    ngram 2=15
    \\1-grams:
    log10 probability, tab, word, tab, log10 back-off weight
    \\2-grams:
    log10 probability, tab, word, space, word
    \\end\\

Words are split at white space, back-off weights of 1 may be left out, -99 is a logarithm of
0. `<s>` has no probability of its own. Knows nothing of paths and of zipped files.
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
    """The lines of a file, counted."""

    def __init__(self, stream: Iterable[bytes], name: str) -> None:
        self.name = name
        self.number = 0
        self.last = b""
        self._rest = iter(stream)

    def __iter__(self) -> Iterator[bytes]:
        for line in self._rest:
            self.number, self.last = self.number + 1, line
            yield line
        self.last = b""

    def filled(self) -> bytes:
        """The next line that is not blank, without the spaces around it."""
        for line in self:
            if stripped := line.strip(SPACES):
                return stripped
        raise InvalidFileError(
            f"{self.name}:{self.number}: the file is cut short: no \\end\\ was found"
        )

    def refuse(self, complaint: str, number: int | None = None) -> NoReturn:
        """Say what is wrong with a line, the last one if none is named."""
        raise InvalidFileError(f"{self.name}:{number or self.number}: {complaint}")


class ArpaSection(NamedTuple):
    """The n-grams of one order as they stand in the file."""

    ids: UInt32Array  # [n-grams, order]
    probabilities: Float64Array
    backoffs: Float64Array
    first: int  # the line that the first n-gram stands on


def read_arpa(stream: Iterable[bytes], name: str) -> NgramModel:
    """The model in the lines of an ARPA file; `name` is what errors call it."""
    lines = ArpaLines(stream, name)
    sizes, heading = read_sizes(lines)
    rows: dict[bytes, int] = {}
    sections: list[ArpaSection] = []
    for order, size in enumerate(sizes, 1):
        if heading != b"\\%d-grams:" % order:
            lines.refuse(f"'{shown(heading)}' stands where \\{order}-grams: should")
        sections.append(read_section(lines, order, size, rows))
        heading = lines.last.strip(SPACES) or lines.filled()
    if heading != b"\\end\\":
        lines.refuse(f"'{shown(heading)}' stands where \\end\\ should")
    trie, table = take_words(rows, sections[0])
    tables = [table]
    for section in sections[1:]:
        trie, table = add_order(lines, trie, section)
        tables.append(table)
    probabilities, backoffs = zip(*tables, strict=True)
    return NgramModel(trie, probabilities, backoffs[:-1])


def read_sizes(lines: ArpaLines) -> tuple[list[int], bytes]:
    """How many n-grams of each order the file promises, and the line after that."""
    if not any(line.strip(SPACES) == b"\\data\\" for line in lines):
        lines.refuse("this is no ARPA file: it has no line \\data\\", 1)
    sizes: list[int] = []
    while promise := SIZE.fullmatch(heading := lines.filled()):
        if int(promise[1]) != len(sizes) + 1:
            lines.refuse(f"'{shown(heading)}' stands where order {len(sizes) + 1} should")
        sizes.append(int(promise[2]))
    if not sizes:
        lines.refuse(f"'{shown(heading)}' stands where 'ngram 1=…' should")
    return sizes, heading


def read_section(lines: ArpaLines, order: int, size: int, rows: dict[bytes, int]) -> ArpaSection:
    """The n-grams of one order; those of order 1 give the words their rows."""
    ids, probabilities, backoffs = array("I"), array("d"), array("d")
    first, row_of = lines.number + 1, rows.__getitem__
    for line in lines:
        fields = line.split()
        if not fields or fields[0].startswith(b"\\"):
            break
        try:
            probabilities.append(float(fields[0]))
            backoffs.append(float(fields[order + 1]) if len(fields) > order + 1 else 0.0)
            if order == 1:
                if fields[1] in rows:
                    lines.refuse(f"'{shown(fields[1])}' stood here before")
                rows[fields[1]] = len(rows)
            ids.extend(map(row_of, fields[1 : order + 1]))
        except KeyError as error:
            lines.refuse(f"'{shown(error.args[0])}' is not among the 1-grams")
        except (ValueError, IndexError):
            lines.refuse(f"'{shown(line)}' is no {order}-gram with its probability")
        if not order < len(fields) <= order + 2:
            lines.refuse(f"'{shown(line)}' is no {order}-gram: it has {len(fields)} fields")
    if len(probabilities) != size:
        lines.refuse(f"{len(probabilities):,} {order}-grams end here; {size:,} were promised")
    section = ArpaSection(
        np.array(ids, dtype=np.uint32).reshape(-1, order),
        powers(np.array(probabilities)),
        powers(np.array(backoffs)),
        first,
    )
    sound = (section.probabilities <= 1) & np.isfinite(section.backoffs)
    if not sound.all():
        wrong = int(np.argmin(sound))
        lines.refuse("these are no logarithms of a probability and a weight", first + wrong)
    return section


def take_words(
    rows: dict[bytes, int], section: ArpaSection
) -> tuple[Trie, tuple[Float64Array, Float64Array]]:
    """The words of the 1-grams with what is said of them; missing marks are added."""
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
    """The trie with one order more, and what is said of its n-grams, sorted like them."""
    contexts = section.ids[:, 0].astype(np.int64)
    for order in range(2, trie.order + 1):
        contexts = trie.find(order, contexts, section.ids[:, order - 1])
    if len(wrong := np.flatnonzero(contexts < 0)):
        lines.refuse(
            "the first words of this n-gram are no n-gram of the file",
            section.first + int(wrong[0]),
        )
    packed = pack(contexts, section.ids[:, -1])
    sorting = np.argsort(packed, kind="stable")
    packed = packed[sorting]
    if len(wrong := np.flatnonzero(packed[1:] == packed[:-1])):
        lines.refuse("this n-gram stood here before", section.first + int(sorting[wrong[0] + 1]))
    longer = Trie(trie.words, (*trie.packed, packed))
    return longer, (section.probabilities[sorting], section.backoffs[sorting])


def powers(logs: Float64Array) -> Float64Array:
    """What base 10 logarithms are of."""
    with np.errstate(over="ignore"):
        return np.where(logs <= LOG_OF_ZERO, 0.0, 10.0**logs)


def shown(text: bytes) -> str:
    """As much of a line as fits into a sentence."""
    return text.strip(SPACES)[:40].decode("utf-8", "replace")
