"""Korean morphemes, by kiwipiepy (extra `korean`)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from malmoi.extras import require
from malmoi.text.tokenizers import Tokenizer, TokenSpan


@dataclass(frozen=True)
class Korean(Tokenizer):
    """Morphemes, optionally with their part-of-speech tag (`한국/NNP`).

    Args:
        tags: Append the tag of each morpheme.
        keep: Return only morphemes whose tag begins with one of these: `("N", "V")` selects
            nouns and verbs.
    """

    name: ClassVar[str] = "korean"
    tags: bool = False
    keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", tuple(self.keep))
        load_analyser()  # raises now if kiwipiepy is not installed

    def __call__(self, text: str) -> list[str]:
        """The morphemes of a text."""
        return self._select(load_analyser().tokenize(text))

    def many(self, texts: Iterable[str]) -> Iterator[list[str]]:
        """The morphemes of each text; kiwipiepy analyses several texts at a time."""
        return map(self._select, load_analyser().tokenize(texts))

    def spans(self, text: str) -> list[TokenSpan]:
        """The morphemes with the characters that they come from."""
        morphemes = load_analyser().tokenize(text)
        return [
            TokenSpan(token, morpheme.start, morpheme.start + morpheme.len)
            for morpheme in morphemes
            for token in self._select([morpheme])
        ]

    def _select(self, morphemes: Any) -> list[str]:
        return [
            f"{form}/{morpheme.tag}" if self.tags else form
            for morpheme in morphemes
            if (not self.keep or morpheme.tag.startswith(self.keep))
            and (form := "".join(morpheme.form.split()))
        ]


@cache
def load_analyser() -> Any:
    """The morphological analyser; loading its model takes a second."""
    return require("kiwipiepy", extra="korean").Kiwi()
