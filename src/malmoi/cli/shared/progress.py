"""A progress bar on stderr: how far, how fast, how long still; nothing where nobody looks."""

import sys
from time import monotonic
from types import TracebackType
from typing import Self

PATIENCE = 0.5  # seconds before a bar is worth showing
PAUSE = 0.1  # seconds between two drawings
WIDTH = 20


class Bar:
    """Call it with (done, total); it draws itself once the work takes a while."""

    def __init__(self, what: str, unit: str = "") -> None:
        self.what, self.unit = what, unit
        self._watched = sys.stderr.isatty()
        self._start = self._drawn = monotonic()
        self._before: int | None = None  # done at the first call, perhaps by an earlier run
        self._loss: float | None = None
        self._visible = False

    def __call__(self, done: int, total: int) -> None:
        """Note how far the work is; speed is told from the first call on."""
        now = monotonic()
        if self._before is None:
            self._before, self._start = done, now
        if done >= total:
            self.close()
        elif self._watched and now - self._start > PATIENCE and now - self._drawn > PAUSE:
            self._drawn, self._visible = now, True
            line = self._line(done, total, (done - self._before) / (now - self._start))
            sys.stderr.write(f"\r\x1b[K{line[:79]}")
            sys.stderr.flush()

    def note_loss(self, loss: float) -> None:
        """Note how well a training does, to be shown from now on."""
        self._loss = loss

    def _line(self, done: int, total: int, speed: float) -> str:
        shown = [f"{self.what} {'━' * (WIDTH * done // total):<{WIDTH}} {done / total:4.0%}"]
        if self.unit:
            shown.append(f"{_short(speed)}{self.unit}/s")
        if self._loss is not None:
            shown.append(f"loss {self._loss:.3g}")
        if speed > 0:
            shown.append(f"{_clock((total - done) / speed)} left")
        return "  ".join(shown)

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


def progress_bar(what: str = "reading", unit: str = "") -> Bar:
    """A progress bar for `load(..., progress=progress_bar())`; `unit` adds a speed."""
    return Bar(what, unit)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _short(number: float) -> str:
    """A number with its unit to come: `8.1 M `, `312 k `, `40 `."""
    for size, name in ((1e6, "M "), (1e3, "k ")):
        if number >= size:
            return f"{number / size:.{1 if number < 10 * size else 0}f} {name}"
    return f"{number:.0f} "
