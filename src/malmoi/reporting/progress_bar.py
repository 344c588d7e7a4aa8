"""Progress bars: share, speed, loss and time left, on stderr or as an output of a notebook.

Where stderr is a file, nothing is drawn.
"""

import sys
from time import monotonic
from typing import Self

from malmoi.reporting.notebook_bar import notebook_bar
from malmoi.reporting.reporter import Progress, Reporter

SHOW_AFTER = 0.5  # seconds of work before a bar is shown
REDRAW_EVERY = 0.1  # seconds
BAR_WIDTH = 20  # columns
LINE_WIDTH = 79  # columns


class ProgressBar:
    """A `Progress` callback that draws one line once the work takes a while."""

    def __init__(self, name: str, unit: str = "") -> None:
        self.name, self.unit = name, unit
        self.loss: float | None = None
        self._notebook = notebook_bar(name)
        self._is_shown = self._notebook is not None or sys.stderr.isatty()
        self._started = self._drawn = monotonic()
        self._first_done: int | None = None  # at the first call: an earlier run may have done it
        self._is_visible = False

    def __call__(self, done: int, total: int) -> None:
        """Draw the bar; the speed is that since the first call."""
        now = monotonic()
        if self._first_done is None:
            self._first_done, self._started = done, now
        if done >= total:
            if self._notebook is not None:
                self._notebook.close([f"in {_duration(now - self._started)}"], 1.0)
            self.close()
        elif self._is_due(now):
            self._drawn, self._is_visible = now, True
            speed = (done - self._first_done) / (now - self._started)
            self._draw(done / total, self._facts(done, total, speed))

    def _is_due(self, now: float) -> bool:
        waited = now - self._started > SHOW_AFTER and now - self._drawn > REDRAW_EVERY
        return self._is_shown and waited

    def _draw(self, share: float, facts: list[str]) -> None:
        if self._notebook is not None:
            self._notebook.show(share, facts)
            return
        bar = "━" * int(BAR_WIDTH * share)
        line = "  ".join([f"{self.name} {bar:<{BAR_WIDTH}} {share:4.0%}", *facts])
        sys.stderr.write(f"\r\x1b[K{line[:LINE_WIDTH]}")
        sys.stderr.flush()

    def _facts(self, done: int, total: int, speed: float) -> list[str]:
        facts = []
        if self.unit:
            facts.append(f"{_with_prefix(speed)}{self.unit}/s")
        if self.loss is not None:
            facts.append(f"loss {self.loss:.3g}")
        if speed > 0:
            facts.append(f"{_clock((total - done) / speed)} left")
        return facts

    def close(self) -> None:
        """End the bar: clear the line of a terminal, keep the output of a notebook."""
        if self._notebook is not None:
            self._notebook.close([])
        else:
            self.clear()

    def clear(self) -> None:
        """Clear the line of a terminal, until the bar is drawn again."""
        if self._is_visible and self._notebook is None:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._is_visible = False


class ProgressReporter(Reporter):
    """Draws a progress bar per stage, with the training loss; warnings are passed on.

    Use it as a context manager in a terminal, so that an exception leaves no bar behind:
    `with mm.ProgressReporter() as reporter: mm.train_word2vec(text, reporter=reporter)`. In a
    notebook `reporter=mm.ProgressReporter()` is enough: each stage that takes more than half a
    second is one output, and ends with the cell.
    """

    def __init__(self) -> None:
        self._bar: ProgressBar | None = None

    def stage(self, name: str, unit: str = "") -> Progress:
        """Replace the bar of the stage before."""
        self.close()
        self._bar = ProgressBar(name, unit)
        return self._bar

    def loss(self, loss: float) -> None:
        """Show the loss beside the bar."""
        if self._bar is not None:
            self._bar.loss = loss

    def warn(self, sentence: str) -> None:
        """Clear the line of a terminal before the warning is printed."""
        if self._bar is not None:
            self._bar.clear()
        super().warn(sentence)

    def note(self, sentence: str) -> None:
        """Print the sentence on stderr, above the bar."""
        if self._bar is not None:
            self._bar.clear()
        sys.stderr.write(f"{sentence}\n")

    def close(self) -> None:
        """End the bar."""
        if self._bar is not None:
            self._bar.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else _clock(seconds)


def _with_prefix(number: float) -> str:
    """A number before its unit: `8.1 M `, `312 k `, `40 `."""
    for size, prefix in ((1e6, "M "), (1e3, "k ")):
        if number >= size:
            return f"{number / size:.{1 if number < 10 * size else 0}f} {prefix}"
    return f"{number:.0f} "
