"""EmbeddingUnits of texts, which have embeddings: words of a tokenizer, characters, or jamo.

Characters are of a text in NFC, in lower case, with one blank for any space and with runs of a
character cut to three; jamo are the letters of its syllables. Knows nothing of torch.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from malmoi.arrays import Int32Array
from malmoi.classify.networks.settings import UnitKind
from malmoi.encode.static.words import words_of
from malmoi.hangul import EMPTY, split_jamo
from malmoi.keys import Keys, is_encodable
from malmoi.text.tokenizers import Tokenizer
from malmoi.unicode import normalize
from malmoi.vocabulary import Vocabulary

PADDING, UNKNOWN, FIRST_ROW = 0, 1, 2  # rows of an embedding; those of units come after them
LONG_RUN = re.compile(r"(.)\1{3,}")
MAX_CHARACTERS = 8  # of a text, for each unit that is read: nothing after them is split


@dataclass(frozen=True, eq=False)
class EmbeddingUnits:
    """Splits texts into units and numbers them; `tokenizer` splits words."""

    kind: UnitKind
    max_length: int
    max_n: int = 1
    tokenizer: Tokenizer | None = None
    keys: Keys = field(default_factory=lambda: Keys.of(()))

    def split(self, texts: Iterable[str]) -> Iterator[Sequence[str]]:
        """The units of each text."""
        limit = self.max_length
        if self.tokenizer is not None:
            short = (normalize("NFC", text)[: 8 * MAX_CHARACTERS * limit] for text in texts)
            for words in words_of(short, self.tokenizer):
                yield words[:limit]
            return
        for text in texts:
            characters = folded(text[: MAX_CHARACTERS * limit])
            if self.kind == "jamo":
                characters = split_jamo(characters).replace(EMPTY, "")
            yield characters[:limit]

    def counted(self, texts: Iterable[str], *, min_count: int, size: int) -> Vocabulary:
        """The units and n-grams of texts, most frequent first."""
        counts = Counter[str]()
        for units in self.split(texts):
            for ngrams in self._ngrams(units):
                counts.update(ngrams)
        usable = {unit: count for unit, count in counts.items() if is_encodable(unit)}
        return Vocabulary.of(usable, min_count=min_count, size=size)

    def ids(self, texts: Iterable[str]) -> list[Int32Array]:
        """The rows of the units of each text and of the n-grams from them, [units, max_n].

        A text without units has the unknown one.
        """
        get, orders = self._rows.get, range(self.max_n)
        rows = []
        for units in self.split(texts):
            own = np.full((max(len(units), 1), self.max_n), PADDING, np.int32)
            own[0, 0] = UNKNOWN
            for order, ngrams in zip(orders, self._ngrams(units), strict=True):
                missing = PADDING if order else UNKNOWN
                own[: len(ngrams), order] = [get(ngram, missing) for ngram in ngrams]
            rows.append(own)
        return rows

    def _ngrams(self, units: Sequence[str]) -> list[Sequence[str]]:
        """The n-grams of each order, one after the other by where they begin."""
        join = "".join if self.tokenizer is None else " ".join
        return [
            units,
            *(
                [join(units[i : i + n]) for i in range(len(units) - n + 1)]
                for n in range(2, self.max_n + 1)
            ),
        ]

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {unit: row for row, unit in enumerate(self.keys, FIRST_ROW)}


def folded(text: str) -> str:
    """A text in NFC and lower case, with single blanks and no long runs of a character."""
    blanks = " ".join(normalize("NFC", text).lower().split())
    return LONG_RUN.sub(r"\1\1\1", blanks)
