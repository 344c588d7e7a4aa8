"""Text made uniform before it is cut: Unicode form, case, digits, invisible characters, repeats.

Works on blocks of text as well as on single words.
"""

import re
from dataclasses import dataclass
from unicodedata import is_normalized, normalize

from malmoi.errors import BadSetting

# White space beyond ASCII, as `str.split` knows it: a plain space is what tokenizers look for.
SPACES = "\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u0085\x1c-\x1f"
# Controls and format characters that nobody sees: zero-width, soft hyphen, marks of direction.
INVISIBLE = (
    "\x01-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb"
)
ODD = re.compile(f"[{SPACES}]|[{INVISIBLE}]+")
DIGITS = re.compile(r"\d")
NFD_HANGUL = re.compile("[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?")


@dataclass(frozen=True, kw_only=True)
class Normalizer:
    """What is made the same.

    `form` is the Unicode form; `lower` folds case; `digits` turns each digit into 0;
    `invisible` drops controls and zero-width characters and makes every space a plain one;
    `repeats` cuts runs of one character down to so many (ㅋㅋㅋㅋ to ㅋㅋ with 2).
    """

    form: str = "NFC"
    lower: bool = False
    digits: bool = False
    invisible: bool = True
    repeats: int | None = None

    def __post_init__(self) -> None:
        if self.form not in ("NFC", "NFD", "NFKC", "NFKD", "none"):
            raise BadSetting(f"'{self.form}' is no Unicode form: NFC, NFD, NFKC, NFKD or none")
        if self.repeats is not None and self.repeats < 1:
            raise BadSetting(f"repeats is {self.repeats}: at least one character must stay")

    def __call__(self, text: str) -> str:
        """The text made uniform."""
        if self.form != "none" and not is_normalized(self.form, text):  # type: ignore[arg-type]
            text = normalize(self.form, text)  # type: ignore[arg-type]
        if self.invisible and (not text.isascii() or ODD.search(text)):
            text = ODD.sub(lambda odd: " " if odd[0].isspace() else "", text)
        if self.lower:
            text = text.lower()
        if self.digits:
            text = DIGITS.sub("0", text)
        if self.repeats is not None:
            text = re.sub(rf"(\S)\1{{{self.repeats},}}", r"\1" * self.repeats, text)
        return text


def decomposed_syllables(text: str) -> int:
    """How many Hangul syllables stand in their letters (NFD), to be told of."""
    if text.isascii() or is_normalized("NFC", text):
        return 0
    return len(NFD_HANGUL.findall(text))
