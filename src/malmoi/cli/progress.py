"""A progress bar on stderr: how far, how fast, how long still; nothing where nobody looks."""

import sys
from time import monotonic
from types import TracebackType
from typing import Self

PATIENCE = 0.5  # seconds before a bar is worth showing
PAUSE = 0.1  # seconds between two drawings
WIDTH = 30


class Bar:
    """Call it with (done, total); it draws itself once the work takes a while."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._watched = sys.stderr.isatty()
        self._start = self._drawn = monotonic()
        self._visible = False

    def __call__(self, done: int, total: int) -> None:
        """Note how far the work is."""
        now = monotonic()
        if done >= total:
            self.close()
        elif self._watched and now - self._start > PATIENCE and now - self._drawn > PAUSE:
            self._drawn, self._visible = now, True
            left = (now - self._start) * (total - done) / max(done, 1)
            filled = "━" * (WIDTH * done // total)
            line = f"{self.what} {filled:<{WIDTH}} {done / total:4.0%}  {_clock(left)} left"
            sys.stderr.write(f"\r\x1b[K{line[:79]}")
            sys.stderr.flush()

    def close(self) -> None:
        """Wipe the line."""
        if self._visible:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._visible = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def bar(what: str = "reading") -> Bar:
    """A progress bar to hand to `load(..., progress=bar())` and the like."""
    return Bar(what)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
