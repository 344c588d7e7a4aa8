"""The text analyser of lexical search: words, names, numbers; Korean as morphemes.

Particles and endings of Korean are left out. Without the extra `korean` a run of Hangul is split
into overlapping syllable bigrams instead, which match a noun whatever particle follows it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from itertools import chain
from typing import Literal, cast

from malmoi.errors import InvalidArgumentError
from malmoi.text.korean import Korean
from malmoi.unicode import normalize

Hangul = Literal["morphemes", "bigrams"]
HANGUL_UNITS: tuple[Hangul, ...] = ("morphemes", "bigrams")
NUMBER, HANGUL = r"\d+(?:[.,]\d+)+", "[가-힣]+"
WORD = re.compile(rf"{NUMBER}|{HANGUL}|[^\W_가-힣]+")  # 3월 and iPhone을 are two words each
SYLLABLES = re.compile(HANGUL)
GRAMMAR = ("J", "E")  # tags of particles and endings


@dataclass(frozen=True)
class Analyser:
    """Splits texts into words; an index stores its analyser, so that queries use the same."""

    hangul: Hangul

    def __post_init__(self) -> None:
        if self.hangul not in HANGUL_UNITS:
            raise InvalidArgumentError(
                f"Hangul is split into {' or '.join(HANGUL_UNITS)}, not '{self.hangul}'"
            )

    def __call__(self, text: str) -> list[str]:
        """The words of a text, in lower case."""
        (words,) = self.many([text])
        return words

    def many(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """The words of each text; Korean texts are analysed in batches."""
        normalized = [normalize("NFC", text).lower() for text in texts]
        if self.hangul == "bigrams":
            yield from ([*chain(*map(_bigrams, WORD.findall(text)))] for text in normalized)
            return
        is_korean = [SYLLABLES.search(text) is not None for text in normalized]
        korean = [
            text for text, has_hangul in zip(normalized, is_korean, strict=True) if has_hangul
        ]
        analysed = self._korean.many(korean) if korean else iter(())
        for text, has_hangul in zip(normalized, is_korean, strict=True):
            words = WORD.findall(text)
            if has_hangul:
                others = [_plain(word) for word in words if not SYLLABLES.match(word)]
                yield [*others, *_morphemes(next(analysed))]
            else:
                yield [_plain(word) for word in words]

    @cached_property
    def _korean(self) -> Korean:
        return Korean(tags=True)


def best_analyser() -> Analyser:
    """The best analyser that is installed."""
    return Analyser("morphemes" if find_spec("kiwipiepy") else "bigrams")


def _bigrams(word: str) -> Iterable[str]:
    """Hangul as syllable bigrams; any other word as it is."""
    if not SYLLABLES.match(word):
        return (_plain(word),)
    return [word[i : i + 2] for i in range(max(1, len(word) - 1))]


def _plain(word: str) -> str:
    """Remove commas of numbers and plural endings (Harman's s-stemmer: ponies, pony; cats, cat)."""
    if not word.endswith("s"):
        return word.replace(",", "")
    if word.endswith("ies") and not word.endswith(("eies", "aies")) and len(word) > 3:
        return word[:-3] + "y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")) and len(word) > 3:
        return word[:-1]
    return word if word.endswith(("us", "ss")) or len(word) < 3 else word[:-1]


def _morphemes(tagged: list[str]) -> Iterator[str]:
    for one in tagged:
        form, tag = cast(tuple[str, str], one.rsplit("/", 1))
        if SYLLABLES.search(form) and not tag.startswith(GRAMMAR):
            yield form
