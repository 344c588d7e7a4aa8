"""Explanation: where the vector of a word in a question comes from, and how sure that is."""

from dataclasses import dataclass
from typing import Literal

from malmoi.typos.noisy_channel import Correction

Source = Literal["own row", "tokens", "near words", "n-grams", "nothing"]

TOLD = 0.005  # the least share of a near word that is shown
SHOWN = 5  # near words


@dataclass(frozen=True)
class Explanation:
    """Where the vector of a word comes from: of several steps, the chief one.

    A word without a row is either split by the tokenizer of the training text (`tokens`), or it
    is taken for known words one slip away (`near words`), or for a new word (`n-grams`).
    """

    word: str
    source: Source
    ngrams: tuple[str, ...] = ()  # those that have a row, in order
    near: tuple[Correction, ...] = ()  # known words one slip away, likeliest first
    all_ngrams: int = 0  # how many n-grams the word has, with a row or without
    tokens: tuple[str, ...] = ()  # the known tokens that the tokenizer makes of it
    remark: str = ""  # why the tokenizer could not be asked

    @property
    def perhaps(self) -> list[str]:
        """The near words that are worth showing, with their shares."""
        return [f"{word} ({share:.0%})" for word, share in self.near if share >= TOLD]

    @property
    def read_as(self) -> dict[str, float]:
        """The known words that answer instead of this one, and their shares of the vector.

        Empty if the word answers itself; what the shares lack of 1 is a new word's.
        """
        if self.source == "tokens":
            return {token: self.tokens.count(token) / len(self.tokens) for token in self.tokens}
        return dict(self.near[:SHOWN]) if self.source == "near words" else {}

    @property
    def known(self) -> str:
        """How many of its n-grams are known."""
        return f"{len(self.ngrams)} of its {self.all_ngrams} n-grams"

    @property
    def note(self) -> str:
        """One sentence for whoever asked with a word that has no row; '' if it has one."""
        if self.source == "own row":
            return ""
        perhaps = self.perhaps[:SHOWN]
        if self.source == "tokens":
            said = f"read as {' + '.join(self.tokens)}, as its tokenizer splits it"
        elif self.source == "near words":
            new = max(0.0, 1 - sum(share for _, share in self.near))
            said = f"perhaps {', '.join(perhaps)}, or a new word ({new:.0%})"
        elif self.source == "nothing":
            said = "none of its n-grams is known"
        else:
            said = f"built from {self.known}"
            said += f"; perhaps {', '.join(perhaps)}" if perhaps else ""
        remark = f"; {self.remark}" if self.remark else ""
        return f"'{self.word}' is not in the vectors; {said}{remark}"

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
