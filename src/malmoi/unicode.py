"""Unicode normalization in linear time.

`unicodedata.normalize` sorts each run of combining marks by insertion, which is quadratic: one
letter with 200,000 marks takes a minute and holds the interpreter's lock for all of it. Here a run
is normalized in blocks of `MAX_MARKS` marks. Text without such a run, which is all real text, is
normalized exactly as by `unicodedata`; in other text, marks are not reordered across blocks.
"""

import sys
import unicodedata
from functools import cache
from typing import Literal

import numpy as np

from malmoi.arrays import BoolArray

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
PLANES = 0x20000  # code points of the first two planes, which hold all combining marks
MAX_SHORT_CHARACTERS = 512  # quadratic time does not matter for so few
MAX_MARKS = 32  # Unicode's Stream-Safe Text Format (UAX #15) has at most 30 marks in a row


def normalize(form: Form, text: str) -> str:
    """The text in a normalization form."""
    if len(text) <= MAX_SHORT_CHARACTERS:
        return unicodedata.normalize(form, text)
    if unicodedata.is_normalized(form, text):  # linear: stops at the first mark out of order
        return text
    splits = _split_positions(text)
    bounds = zip([0, *splits], [*splits, len(text)], strict=True)
    return "".join(unicodedata.normalize(form, text[start:stop]) for start, stop in bounds)


def _split_positions(text: str) -> list[int]:
    """Positions that split a text so that no part has more than `MAX_MARKS` marks in a row."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    not_marks = np.flatnonzero(~_is_mark()[codes])
    bounds = np.concatenate([[-1], not_marks, [len(codes)]])
    long = np.flatnonzero(np.diff(bounds) > MAX_MARKS + 1)
    runs = zip(bounds[long].tolist(), bounds[long + 1].tolist(), strict=True)
    return [
        position
        for before, after in runs
        for position in range(before + 1 + MAX_MARKS, after, MAX_MARKS)
    ]


@cache
def _is_mark() -> BoolArray:
    """For each code point whether it is a combining mark."""
    is_mark = np.zeros(sys.maxunicode + 1, dtype=bool)
    is_mark[:PLANES] = [unicodedata.combining(chr(code)) > 0 for code in range(PLANES)]
    return is_mark
