"""How far a long piece of work is: a function that whoever waits may pass in."""

from collections.abc import Callable

Progress = Callable[[int, int], None]  # (done, of how much)


def silent(done: int, total: int) -> None:
    """Progress that nobody watches."""
