"""Explanation: where the vector of a query word comes from."""

from dataclasses import dataclass
from typing import Literal

from malmoi.typos.noisy_channel import Correction

Source = Literal["own row", "tokens", "typo", "n-grams", "nothing"]

MIN_SHOWN_SHARE = 0.005  # of a correction
MAX_SHOWN = 5  # corrections


@dataclass(frozen=True)
class Explanation:
    """Where the vector of a word comes from.

    A word without a row is split by the tokenizer of the training text (`tokens`), corrected to
    known words one edit away (`typo`), or built from its n-grams as a new word (`n-grams`).
    """

    word: str
    source: Source
    ngrams: tuple[str, ...] = ()  # with a row, in order
    corrections: tuple[Correction, ...] = ()  # known words one edit away, most probable first
    all_ngrams: int = 0  # number of n-grams, with a row or without
    tokens: tuple[str, ...] = ()  # by the tokenizer of the training text
    remark: str = ""  # why the tokenizer could not be used

    @property
    def perhaps(self) -> list[str]:
        """The corrections to show, with their shares."""
        return [
            f"{word} ({share:.0%})" for word, share in self.corrections if share >= MIN_SHOWN_SHARE
        ]

    @property
    def read_as(self) -> dict[str, float]:
        """The known words that answer for this one, and their shares of the vector.

        Empty if the word answers for itself; a new word has the rest of 1.
        """
        if self.source == "tokens":
            return {token: self.tokens.count(token) / len(self.tokens) for token in self.tokens}
        return dict(self.corrections[:MAX_SHOWN]) if self.source == "typo" else {}

    @property
    def known(self) -> str:
        """How many of its n-grams are known."""
        return f"{len(self.ngrams)} of its {self.all_ngrams} n-grams"

    @property
    def note(self) -> str:
        """One sentence for the user about a word without a row; '' if it has one."""
        if self.source == "own row":
            return ""
        perhaps = self.perhaps[:MAX_SHOWN]
        if self.source == "tokens":
            source_text = f"read as {' + '.join(self.tokens)}, as its tokenizer splits it"
        elif self.source == "typo":
            new = max(0.0, 1 - sum(share for _, share in self.corrections))
            source_text = f"perhaps {', '.join(perhaps)}, or a new word ({new:.0%})"
        elif self.source == "nothing":
            source_text = "none of its n-grams is known"
        else:
            source_text = f"built from {self.known}"
            source_text += f"; perhaps {', '.join(perhaps)}" if perhaps else ""
        remark = f"; {self.remark}" if self.remark else ""
        return f"'{self.word}' is not in the vectors; {source_text}{remark}"

    def __str__(self) -> str:
        if self.source == "own row":
            return f"'{self.word}' has a row of its own"
        if self.source == "tokens":
            return self.note
        if self.source == "nothing":
            return f"'{self.word}' was never seen and none of its n-grams has a row"
        parts = self.perhaps
        if self.ngrams:
            ngrams = f"{', '.join(self.ngrams)} ({self.known})"
            parts.append(f"a new word built from {ngrams}" if parts else f"built from {ngrams}")
        return f"'{self.word}' was never seen; {' or '.join(parts)}"
