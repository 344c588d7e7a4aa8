"""Korean morphemes, by kiwipiepy (extra `korean`)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from malmoi.extras import require


@dataclass(frozen=True)
class Korean:
    """Morphemes, with their part of speech if asked for (`한국/NNP`).

    `keep` takes only morphemes whose tag begins with one of these: `("N", "V")` are nouns
    and verbs.
    """

    name: ClassVar[str] = "korean"
    tags: bool = False
    keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", tuple(self.keep))
        analyser()  # says at once if it is not installed

    def __call__(self, text: str) -> list[str]:
        """The morphemes of a text."""
        return self._chosen(analyser().tokenize(text))

    def many(self, texts: Iterable[str]) -> Iterator[list[str]]:
        """The morphemes of many texts, several at a time."""
        return map(self._chosen, analyser().tokenize(texts))

    def _chosen(self, morphemes: Any) -> list[str]:
        return [
            f"{form}/{one.tag}" if self.tags else form
            for one in morphemes
            if (not self.keep or one.tag.startswith(self.keep))
            and (form := "".join(one.form.split()))
        ]


@cache
def analyser() -> Any:
    """The analyser; loading its model takes a second."""
    return require("kiwipiepy", extra="korean").Kiwi()
