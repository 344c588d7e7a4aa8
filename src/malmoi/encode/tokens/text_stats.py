"""What happened to texts on their way into a model: cut off, empty, unknown. Counted and listed."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np

from malmoi.arrays import Int64Array
from malmoi.encode.checkpoint.locate import UNIVERSAL
from malmoi.encode.tokens.fragments import is_fragmented
from malmoi.encode.tokens.inputs import Text
from malmoi.encode.tokens.tokenizer import MOST_SPECIAL, ModelTokenizer
from malmoi.errors import warn

SHOWN = 5
FEW = 100  # one fragmented text in so many is too few to warn of
HANGUL = re.compile("[가-힣]")
READ_BY_USE = re.compile("[\u0400-\u04ff\u0600-\u06ff\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff가-힣]")


class InputStats(Protocol):
    """Counts of one encoder, which can be added to those of its next call."""

    def add(self, other: Self) -> None:
        """Count what another call counted too."""

    def sentences(self, *, numbered: bool = True) -> list[str]:
        """What there is to say, with the numbers of the first few texts."""


@dataclass
class TextStats:
    """Over any number of chunks; texts are numbered from 1.

    `words` are those of all texts, and `fragments` those among them that reach the model only as
    single letters, bytes or unknown tokens; most words of `fragmented` texts are such. `korean`
    of these have Hangul, and `universal` a script that the Universal Sentence Encoder reads.
    """

    texts: int = 0
    truncated: list[int] = field(default_factory=list)
    empty: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    fragmented: list[int] = field(default_factory=list)
    longest: int = 0
    words: int = 0
    fragments: int = 0
    korean: int = 0
    universal: int = 0
    by_layers: bool = False  # a model without layers is no choice

    def count(
        self,
        encodings: Sequence[Any],
        texts: Sequence[Text],
        cutter: ModelTokenizer,
        *,
        truncating: bool = True,
    ) -> None:
        """Look at uniform texts and what the tokenizer made of them."""
        self.longest = cutter.longest
        for number, encoding in enumerate(encodings, self.texts + 1):
            if truncating and cutter.is_truncated(encoding):
                self.truncated.append(number)
            if len(encoding) <= MOST_SPECIAL and all(encoding.special_tokens_mask):
                self.empty.append(number)
            elif cutter.unknown in (ids := encoding.ids) and all(
                special or piece == cutter.unknown
                for piece, special in zip(ids, encoding.special_tokens_mask, strict=True)
            ):
                self.unknown.append(number)
        self.count_fragments(*cutter.fragments.count(encodings, texts), texts)
        self.texts += len(encodings)

    def count_fragments(
        self, words: Int64Array, fragments: Int64Array, texts: Sequence[Text]
    ) -> None:
        """Take in texts with so many words, and so many fragments among them."""
        self.words += int(words.sum())
        self.fragments += int(fragments.sum())
        for i in np.flatnonzero(is_fragmented(words, fragments)).tolist():
            text = texts[i]
            both = text if isinstance(text, str) else " ".join(text)
            self.fragmented.append(self.texts + i + 1)
            self.korean += bool(HANGUL.search(both))
            self.universal += bool(READ_BY_USE.search(both))

    def add(self, other: "TextStats") -> None:
        """Count what another call counted too; its texts come after these."""
        for name in ("truncated", "empty", "unknown", "fragmented"):
            getattr(self, name).extend(number + self.texts for number in getattr(other, name))
        for name in ("texts", "words", "fragments", "korean", "universal"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.longest = max(self.longest, other.longest)
        self.by_layers |= other.by_layers

    def sentences(self, *, numbered: bool = True) -> list[str]:
        """What there is to say, with the numbers of the first few texts."""
        told = set(self.fragmented if self.is_fragmented else ())
        found = {
            f"longer than {self.longest:,} pieces: the rest was left out": self.truncated,
            "without a single piece of text: their vectors mean nothing": self.empty,
            "made of unknown pieces alone: their vectors mean little": [
                number for number in self.unknown if number not in told
            ],
            self._about_fragments(): self.fragmented if told else [],
        }
        return [
            f"{len(numbers):,} of {self.texts:,} texts are {what}"
            + (f" ({listed(numbers)})" if numbered else "")
            for what, numbers in found.items()
            if numbers
        ]

    @property
    def is_fragmented(self) -> bool:
        """Whether there are enough fragmented texts to warn of."""
        return bool(self.fragmented) and FEW * len(self.fragmented) >= self.texts

    def _about_fragments(self) -> str:
        share = self.fragments / max(self.words, 1)
        return (
            "mostly words that the model knows only as single letters, bytes or unknown tokens"
            f" ({share:.0%} of all words): their vectors mean little; {self._advice()}"
        )

    def _advice(self) -> str:
        """A model that fits most of the fragmented texts."""
        if self.by_layers:
            return "choose a model with layers that was trained on their language"
        if 2 * self.korean > len(self.fragmented):
            return f"for Korean choose the model {UNIVERSAL}"
        if 2 * self.universal > len(self.fragmented):
            return f"choose the model {UNIVERSAL}, which reads 16 languages"
        return "choose a model that was trained on their language"

    def report(self, name: str) -> None:
        """Warn of what was counted."""
        report(self, name)


GATHERED: ContextVar[dict[str, InputStats] | None] = ContextVar("GATHERED", default=None)


def report(notes: InputStats, name: str) -> None:
    """Warn of what was counted by an encoder, or add it up where notes are gathered."""
    gathered = GATHERED.get()
    if gathered is not None:
        gathered.setdefault(name, type(notes)()).add(notes)
        return
    for sentence in notes.sentences():
        warn(f"{name}: {sentence}")


@contextmanager
def gathered_notes() -> Iterator[None]:
    """The notes of all calls of an encoder inside become one, told at the end."""
    gathered: dict[str, InputStats] = {}
    token = GATHERED.set(gathered)
    try:
        yield
    finally:
        GATHERED.reset(token)
        for name, notes in gathered.items():
            for sentence in notes.sentences(numbered=False):
                warn(f"{name}: {sentence}")


@contextmanager
def silenced_notes() -> Iterator[None]:
    """Nothing is told of what encoders inside count: the texts are not the user's."""
    token = GATHERED.set({})
    try:
        yield
    finally:
        GATHERED.reset(token)


def listed(numbers: Sequence[int]) -> str:
    """The first few of the texts that something is said of."""
    shown = ", ".join(f"{number:,}" for number in numbers[:SHOWN])
    return f"number {shown}" + (" …" if len(numbers) > SHOWN else "")
