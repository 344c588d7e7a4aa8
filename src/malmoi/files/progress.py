"""How far a long piece of work is: a function that whoever waits may pass in."""

from collections.abc import Callable, Iterator
from typing import Protocol, runtime_checkable

Progress = Callable[[int, int], None]  # (done, of how much)


def silent(done: int, total: int) -> None:
    """Progress that nobody watches."""


@runtime_checkable
class Watchable(Protocol):
    """Texts that can say how far they have been read."""

    def watched(self, progress: Progress) -> Iterator[str]:
        """The texts, one after the other."""
