"""The progress bar of commands that do not pass a reporter yet."""

from typing import Self

from malmoi.reporting import progress_bar as bars


class Bar:
    """A `malmoi.reporting.progress_bar.ProgressBar` as a context manager."""

    def __init__(self, name: str, unit: str = "") -> None:
        self._bar = bars.ProgressBar(name, unit)

    def __call__(self, done: int, total: int) -> None:
        """Draw the bar."""
        self._bar(done, total)

    def note_loss(self, loss: float) -> None:
        """Show the loss beside the bar."""
        self._bar.loss = loss

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()


def progress_bar(name: str = "reading", unit: str = "") -> Bar:
    """A progress bar; `unit` adds a speed."""
    return Bar(name, unit)
