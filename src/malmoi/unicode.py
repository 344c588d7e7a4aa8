"""Unicode normalization in linear time.

`unicodedata.normalize` sorts each run of combining marks by insertion, which is quadratic: one
letter with 200,000 marks takes a minute, and holds the interpreter's lock for all of it. Here a
run is normalized in blocks of `BLOCK` marks. Text without such a run, which is all real text, is
normalized exactly as by `unicodedata`; of the others, the order of marks is kept between blocks.
"""

import sys
import unicodedata
from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
PLANES = 0x20000  # code points among which all marks are: the first two planes
SHORT = 512  # characters: their square is no time at all
BLOCK = 32  # Unicode's Stream-Safe Text Format (UAX #15) has at most 30 marks in a row


def normalize(form: Form, text: str) -> str:
    """The text in a normalization form."""
    if len(text) <= SHORT:
        return unicodedata.normalize(form, text)
    if unicodedata.is_normalized(form, text):  # linear: the first mark out of order ends it
        return text
    cuts = _cuts(text)
    bounds = zip([0, *cuts], [*cuts, len(text)], strict=True)
    return "".join(unicodedata.normalize(form, text[start:stop]) for start, stop in bounds)


def _cuts(text: str) -> list[int]:
    """Where to cut so that no part has more than `BLOCK` marks in a row."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    others = np.flatnonzero(~_marks()[codes])  # what is no mark
    bounds = np.concatenate([[-1], others, [len(codes)]])
    long = np.flatnonzero(np.diff(bounds) > BLOCK + 1)
    runs = zip(bounds[long].tolist(), bounds[long + 1].tolist(), strict=True)
    return [cut for before, after in runs for cut in range(before + 1 + BLOCK, after, BLOCK)]


@cache
def _marks() -> npt.NDArray[np.bool_]:
    """For each code point whether it is a combining mark."""
    found = np.zeros(sys.maxunicode + 1, dtype=bool)
    found[:PLANES] = [unicodedata.combining(chr(code)) > 0 for code in range(PLANES)]
    return found
