"""Text made uniform before it is cut: Unicode form, case, digits, invisible characters, repeats.

`Normalizer` works on a string; `NormalizedTexts` makes blocks of bytes uniform, looking closely
only at the lines that need it, and counts what it met.
"""

import re
from dataclasses import dataclass, field
from functools import cache
from unicodedata import category, is_normalized

import numpy as np
import numpy.typing as npt

from malmoi.arrays import UInt8Array
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.core.jit import readonly_view
from malmoi.kernels.parsing.characters import odd_lines
from malmoi.unicode import normalize

# White space beyond ASCII, as `str.split` knows it: a plain space is what tokenizers look for.
SPACES = "\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# Controls and format characters that nobody sees: zero-width, soft hyphen, marks of direction.
INVISIBLE = (
    "\x01-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb"
)
ODD = re.compile(f"[{SPACES}]|[{INVISIBLE}]+")
DIGITS = re.compile(r"\d")
NFD_HANGUL = re.compile("[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?")
TABLED = 0x2F800  # characters past that are looked at closely, all of them


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
            raise InvalidArgumentError(
                f"'{self.form}' is no Unicode form: NFC, NFD, NFKC, NFKD or none"
            )
        if self.repeats is not None and self.repeats < 1:
            raise InvalidArgumentError(
                f"repeats is {self.repeats}: at least one character must stay"
            )

    def __call__(self, text: str) -> str:
        """The text made uniform."""
        if self.form != "none":
            text = normalize(self.form, text)  # type: ignore[arg-type]
        if self.invisible:
            text = ODD.sub(lambda odd: " " if odd[0].isspace() else "", text)
        if self.lower:
            text = text.lower()
        if self.digits:
            text = DIGITS.sub("0", text)
        if self.repeats is not None:
            text = re.sub(rf"(\S)\1{{{self.repeats},}}", r"\1" * self.repeats, text)
        return text

    @property
    def is_plain(self) -> bool:
        """Whether only odd characters are changed, which most lines do not have."""
        return self.form == "NFC" and not (self.lower or self.digits or self.repeats)


@dataclass
class NormalizedTexts:
    """Makes blocks of whole lines uniform; counts bad bytes and syllables in their letters."""

    normalizer: Normalizer = field(default_factory=Normalizer)
    bad_lines: int = 0
    decomposed: int = 0

    def __call__(self, block: UInt8Array) -> UInt8Array:
        """A block of UTF-8 made uniform."""
        if not self.normalizer.is_plain:
            return np.frombuffer(self._line(bytes(block)), dtype=np.uint8)
        starts, stops = np.empty(1024, np.int64), np.empty(1024, np.int64)
        found = odd_lines(readonly_view(block), odd_characters(), starts, stops)
        if found > len(starts):
            starts, stops = np.empty(found, np.int64), np.empty(found, np.int64)
            odd_lines(readonly_view(block), odd_characters(), starts, stops)
        if found == 0:
            return block
        parts, done = [], 0
        for start, stop in zip(starts[:found].tolist(), stops[:found].tolist(), strict=True):
            parts += [bytes(block[done:start]), self._line(bytes(block[start:stop]))]
            done = stop
        return np.frombuffer(b"".join([*parts, bytes(block[done:])]), dtype=np.uint8)

    def notes(self) -> list[str]:
        """A sentence for each thing that a user should know of."""
        notes = []
        if self.bad_lines:
            notes.append(f"lines with bytes that are not text (now U+FFFD): {self.bad_lines:,}")
        if self.decomposed:
            notes.append(f"Hangul syllables that stood in their letters: {self.decomposed:,}")
        return notes

    def _line(self, line: bytes) -> bytes:
        text = line.decode("utf-8", "replace")
        if "\ufffd" in text:
            self.bad_lines += sum("\ufffd" in part for part in text.split("\n"))
        if not is_normalized("NFC", text):
            self.decomposed += len(NFD_HANGUL.findall(text))
        return self.normalizer(text).encode("utf-8", "replace")


@cache
def odd_characters() -> npt.NDArray[np.bool_]:
    """For each character whether `Normalizer()` may change it, alone or after another."""
    odd = np.zeros(TABLED + 1, dtype=np.bool_)
    for code in range(TABLED):
        character = chr(code)
        odd[code] = (
            category(character)[0] == "M"  # may join the character before it
            or not is_normalized("NFC", character)
            or (not character.isascii() and character.isspace())
        )
    for character in filter(ODD.match, map(chr, range(0x10000))):
        odd[ord(character)] = True
    odd[0x1100:0x1200] = True  # the letters of Hangul, which join each other
    odd[0xFFFD] = True  # stands for bytes that made no sense
    odd[TABLED] = True
    return odd
