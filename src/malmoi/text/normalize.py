"""Text normalization before tokenization: Unicode form, case, digits, invisible characters.

`Normalizer` normalizes a string; `BlockNormalizer` blocks of bytes. It inspects only those lines
closely that may change, and counts what it repairs.
"""

import re
from dataclasses import dataclass, field
from functools import cache
from unicodedata import category, is_normalized

import numpy as np

from malmoi.arrays import BoolArray, UInt8Array
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.core.jit import readonly_view
from malmoi.kernels.parsing.characters import find_lines_with
from malmoi.unicode import normalize

# White space beyond ASCII, as `str.split` knows it: tokenizers split at a plain space.
SPACES = "\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# Invisible controls and format characters: zero-width, soft hyphen, marks of direction.
INVISIBLE = (
    "\x01-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb"
)
REPLACED = re.compile(f"[{SPACES}]|[{INVISIBLE}]+")
DIGITS = re.compile(r"\d")
NFD_HANGUL = re.compile("[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?")
TABLE_SIZE = 0x2F800  # lines with characters beyond are always normalized


@dataclass(frozen=True, kw_only=True)
class Normalizer:
    """How text is normalized; call it with a string.

    Args:
        form: The Unicode normalization form: NFC, NFD, NFKC, NFKD or none.
        lower: Fold case.
        digits: Replace each digit by 0.
        invisible: Remove control and zero-width characters, and make every space a plain one.
        repeats: Shorten runs of one character to so many (ㅋㅋㅋㅋ to ㅋㅋ with 2).

    Raises:
        InvalidArgumentError: `form` is unknown, or `repeats` is below 1.
    """

    form: str = "NFC"
    lower: bool = False
    digits: bool = False
    invisible: bool = True
    repeats: int | None = None

    def __post_init__(self) -> None:
        if self.form not in ("NFC", "NFD", "NFKC", "NFKD", "none"):
            raise InvalidArgumentError(
                f"form is '{self.form}': choose one of NFC, NFD, NFKC, NFKD, none"
            )
        if self.repeats is not None and self.repeats < 1:
            raise InvalidArgumentError(f"repeats is {self.repeats}: it must be at least 1")

    def __call__(self, text: str) -> str:
        """The normalized text."""
        if self.form != "none":
            text = normalize(self.form, text)  # type: ignore[arg-type]
        if self.invisible:
            text = REPLACED.sub(lambda match: " " if match[0].isspace() else "", text)
        if self.lower:
            text = text.lower()
        if self.digits:
            text = DIGITS.sub("0", text)
        if self.repeats is not None:
            text = re.sub(rf"(\S)\1{{{self.repeats},}}", r"\1" * self.repeats, text)
        return text

    @property
    def is_plain(self) -> bool:
        """Whether only special characters change, which most lines do not contain."""
        return self.form == "NFC" and not (self.lower or self.digits or self.repeats)


@dataclass
class BlockNormalizer:
    """Normalizes blocks of complete lines; counts undecodable lines and decomposed syllables."""

    normalizer: Normalizer = field(default_factory=Normalizer)
    bad_lines: int = 0
    decomposed: int = 0

    def __call__(self, block: UInt8Array) -> UInt8Array:
        """The normalized bytes of a block of UTF-8."""
        if not self.normalizer.is_plain:
            return np.frombuffer(self._normalize(bytes(block)), dtype=np.uint8)
        starts, stops = np.empty(1024, np.int64), np.empty(1024, np.int64)
        count = find_lines_with(readonly_view(block), changeable_characters(), starts, stops)
        if count > len(starts):
            starts, stops = np.empty(count, np.int64), np.empty(count, np.int64)
            find_lines_with(readonly_view(block), changeable_characters(), starts, stops)
        if count == 0:
            return block
        parts, done = [], 0
        for start, stop in zip(starts[:count].tolist(), stops[:count].tolist(), strict=True):
            parts += [bytes(block[done:start]), self._normalize(bytes(block[start:stop]))]
            done = stop
        return np.frombuffer(b"".join([*parts, bytes(block[done:])]), dtype=np.uint8)

    def warnings(self) -> list[str]:
        """One sentence per kind of repair, with its count."""
        sentences = []
        if self.bad_lines:
            sentences.append(f"lines with bytes that are not text (now U+FFFD): {self.bad_lines:,}")
        if self.decomposed:
            sentences.append(
                f"Hangul syllables that were decomposed into jamo (NFD): {self.decomposed:,}"
            )
        return sentences

    def _normalize(self, lines: bytes) -> bytes:
        text = lines.decode("utf-8", "replace")
        if "\ufffd" in text:
            self.bad_lines += sum("\ufffd" in line for line in text.split("\n"))
        if not is_normalized("NFC", text):
            self.decomposed += len(NFD_HANGUL.findall(text))
        return self.normalizer(text).encode("utf-8", "replace")


@cache
def changeable_characters() -> BoolArray:
    """For each character whether `Normalizer()` may change it, alone or after another."""
    is_changeable = np.zeros(TABLE_SIZE + 1, dtype=np.bool_)
    for code in range(TABLE_SIZE):
        character = chr(code)
        is_changeable[code] = (
            category(character)[0] == "M"  # may combine with the character before it
            or not is_normalized("NFC", character)
            or (not character.isascii() and character.isspace())
        )
    for character in filter(REPLACED.match, map(chr, range(0x10000))):
        is_changeable[ord(character)] = True
    is_changeable[0x1100:0x1200] = True  # conjoining jamo, which combine with each other
    is_changeable[0xFFFD] = True  # the replacement character for undecodable bytes
    is_changeable[TABLE_SIZE] = True
    return is_changeable
