"""Counts texts that a model cannot read as they are: truncated, empty, unknown or fragmented."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from malmoi.arrays import Int64Array
from malmoi.encode.checkpoint.locate import UNIVERSAL
from malmoi.encode.tokens.fragments import is_fragmented
from malmoi.encode.tokens.inputs import Text
from malmoi.encode.tokens.text_tokenizer import TextTokenizer
from malmoi.encode.tokens.tokenizer import MAX_SPECIAL_TOKENS

MAX_LISTED = 5  # positions of texts in a warning
MIN_FRAGMENTED_SHARE = 100  # warn from one fragmented text in this many on
HANGUL = re.compile("[가-힣]")
READ_BY_USE = re.compile("[\u0400-\u04ff\u0600-\u06ff\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff가-힣]")


@dataclass
class TextStats:
    """Counts over any number of chunks; the lists hold positions of texts, from 1.

    `words` are those of all texts, and `fragments` those among them that reach the model only as
    single letters, bytes or unknown tokens; most words of `fragmented` texts are such. Of these
    texts, `korean` contain Hangul, and `universal` a script that the Universal Sentence Encoder
    reads. `needs_layers` means that models without layers are not an alternative. `outputs` are
    what the model makes of texts.
    """

    texts: int = 0
    truncated: list[int] = field(default_factory=list)
    empty: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    fragmented: list[int] = field(default_factory=list)
    max_length: int = 0
    words: int = 0
    fragments: int = 0
    korean: int = 0
    universal: int = 0
    needs_layers: bool = False
    outputs: str = "vectors"

    def count(
        self,
        encodings: Sequence[Any],
        texts: Sequence[Text],
        tokenizer: TextTokenizer,
        *,
        truncates: bool = True,
    ) -> None:
        """Count normalized texts by their encodings."""
        self.max_length = tokenizer.max_length
        unk = tokenizer.unk_token_id
        for position, encoding in enumerate(encodings, self.texts + 1):
            if truncates and tokenizer.is_truncated(encoding):
                self.truncated.append(position)
            if len(encoding) <= MAX_SPECIAL_TOKENS and all(encoding.special_tokens_mask):
                self.empty.append(position)
            elif (
                unk is not None
                and unk in (ids := encoding.ids)
                and all(
                    special or token_id == unk
                    for token_id, special in zip(ids, encoding.special_tokens_mask, strict=True)
                )
            ):
                self.unknown.append(position)
        self.count_fragments(*tokenizer.fragments.count(encodings, texts), texts)
        self.texts += len(encodings)

    def count_fragments(
        self, words: Int64Array, fragments: Int64Array, texts: Sequence[Text]
    ) -> None:
        """Count the words of each text, and the fragments among them."""
        self.words += int(words.sum())
        self.fragments += int(fragments.sum())
        for i in np.flatnonzero(is_fragmented(words, fragments)).tolist():
            text = texts[i]
            both = text if isinstance(text, str) else " ".join(text)
            self.fragmented.append(self.texts + i + 1)
            self.korean += bool(HANGUL.search(both))
            self.universal += bool(READ_BY_USE.search(both))

    def add(self, other: "TextStats") -> None:
        """Add the counts of a later call, whose texts follow these."""
        for name in ("truncated", "empty", "unknown", "fragmented"):
            getattr(self, name).extend(position + self.texts for position in getattr(other, name))
        for name in ("texts", "words", "fragments", "korean", "universal"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.max_length = max(self.max_length, other.max_length)
        self.needs_layers |= other.needs_layers
        self.outputs = other.outputs

    def sentences(self, *, numbered: bool = True) -> list[str]:
        """One warning per kind of problem; `numbered` adds the positions of the first texts."""
        fragmented = set(self.fragmented if self.is_fragmented else ())
        problems = {
            f"longer than {self.max_length:,} tokens and were truncated": self.truncated,
            f"empty: their {self.outputs} are meaningless": self.empty,
            f"made of unknown tokens only: their {self.outputs} mean little": [
                position for position in self.unknown if position not in fragmented
            ],
            self._about_fragments(): self.fragmented if fragmented else [],
        }
        return [
            f"{len(positions):,} of {self.texts:,} texts are {problem}"
            + (f" ({list_positions(positions)})" if numbered else "")
            for problem, positions in problems.items()
            if positions
        ]

    @property
    def is_fragmented(self) -> bool:
        """Whether there are enough fragmented texts to warn about them."""
        return bool(self.fragmented) and MIN_FRAGMENTED_SHARE * len(self.fragmented) >= self.texts

    def _about_fragments(self) -> str:
        share = self.fragments / max(self.words, 1)
        return (
            "mostly words that the model knows only as single letters, bytes or unknown tokens"
            f" ({share:.0%} of all words): their {self.outputs} mean little; {self._advice()}"
        )

    def _advice(self) -> str:
        """A model that fits most of the fragmented texts."""
        if self.needs_layers:
            return "choose a transformer that was trained on their language"
        if 2 * self.korean > len(self.fragmented):
            return f"for Korean choose the model {UNIVERSAL}"
        if 2 * self.universal > len(self.fragmented):
            return f"choose the model {UNIVERSAL}, which reads 16 languages"
        return "choose a model that was trained on their language"


def list_positions(positions: Sequence[int]) -> str:
    """The first few positions, for a warning."""
    listed = ", ".join(f"{position:,}" for position in positions[:MAX_LISTED])
    return f"number {listed}" + (" …" if len(positions) > MAX_LISTED else "")
