"""What happened to texts on their way into a model: cut off, empty, unknown. Counted and listed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from malmoi.encode.cutting import MOST_SPECIAL, Cutter
from malmoi.errors import warn

SHOWN = 5


@dataclass
class Notes:
    """Over any number of chunks; texts are numbered from 1."""

    texts: int = 0
    truncated: list[int] = field(default_factory=list)
    empty: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    longest: int = 0

    def count(self, encodings: Sequence[Any], cutter: Cutter, *, truncating: bool = True) -> None:
        """Look at texts that were cut."""
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
        self.texts += len(encodings)

    def sentences(self) -> list[str]:
        """What there is to say, with the first few texts it is said of."""
        found = {
            f"longer than {self.longest} pieces: the rest was left out": self.truncated,
            "without a single piece of text: their vectors mean nothing": self.empty,
            "made of unknown pieces alone: their vectors mean little": self.unknown,
        }
        return [
            f"{len(numbers):,} of {self.texts:,} texts are {what} ({listed(numbers)})"
            for what, numbers in found.items()
            if numbers
        ]

    def report(self, name: str) -> None:
        """Warn of what was counted."""
        for sentence in self.sentences():
            warn(f"{name}: {sentence}")


def listed(numbers: Sequence[int]) -> str:
    """The first few of the texts that something is said of."""
    shown = ", ".join(f"{number:,}" for number in numbers[:SHOWN])
    return f"number {shown}" + (" …" if len(numbers) > SHOWN else "")
