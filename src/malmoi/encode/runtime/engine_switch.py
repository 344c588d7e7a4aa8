"""EngineSwitch: counts the work of an engine, and changes to compiled kernels once there is enough.

An engine without Numba is ready at once; kernels take about a second to load, and some seconds to
compile on a new machine.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

MIN_TOKENS_PER_CALL = 200  # each call counts as at least this many, since each one has to wait


class EngineSwitch(ABC):
    """Switches an engine once, after a number of tokens or when `compile` is called."""

    def __init__(self) -> None:
        self._lock, self._tokens, self._is_final = Lock(), 0, False
        self._pinned_jobs = 0  # during which the engine may not change

    @property
    @abstractmethod
    def _compile_after_tokens(self) -> int:
        """The tokens after which the kernels are worth waiting for."""

    @abstractmethod
    def _use_kernels(self) -> None:
        """Change to compiled kernels, where this machine supports them."""

    def prepare(self, encodings: Sequence[Any]) -> None:
        """Get ready for all texts of a call, before they are run in batches."""
        self.expect(sum(map(len, encodings)))

    def expect(self, tokens: int) -> None:
        """Announce the tokens of a call; switches the engine once there is enough work."""
        self._tokens += max(tokens, MIN_TOKENS_PER_CALL)
        if self._tokens > self._compile_after_tokens and not self._pinned_jobs:
            self.compile()

    @contextmanager
    def pinned(self, tokens: int) -> Iterator[None]:
        """Run a job of about this many tokens with one engine from beginning to end."""
        self.expect(tokens)
        self._pinned_jobs += 1
        try:
            yield
        finally:
            self._pinned_jobs -= 1

    def compile(self) -> None:
        """Switch to the fastest engine of this machine and stay with it."""
        with self._lock:
            if not self._is_final:
                self._use_kernels()
            self._is_final = True
