"""Which encoder fits some texts, where none is named: told by their letters."""

import re
from collections.abc import Iterable
from itertools import islice

from malmoi.encode.checkpoint.locate import PACKAGES, UNIVERSAL

ENGLISH = next(iter(PACKAGES))
LOOKED_AT, CHARACTERS = 1000, 1000  # texts, and characters of each
NAMES_ALONE = 0.01  # a smaller share of Hangul among the letters is a name here and there
LETTER = re.compile(r"[^\W\d_]")
HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")


def fitting_model(texts: Iterable[str]) -> str:
    """`use` for texts with Hangul, `minilm` for all others; the first thousand are looked at."""
    letters = hangul = 0
    for text in islice(texts, LOOKED_AT):
        letters += len(LETTER.findall(text[:CHARACTERS]))
        hangul += len(HANGUL.findall(text[:CHARACTERS]))
    return UNIVERSAL if hangul > NAMES_ALONE * letters else ENGLISH
