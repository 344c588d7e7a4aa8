"""NotebookBar: a progress bar as one output of a notebook cell, which is updated in place.

IPython is used only where a notebook has imported it already.
"""

import sys
from collections.abc import Sequence
from html import escape
from typing import Any

BAR_STYLE = "width: 12em; vertical-align: middle"
TEXT_STYLE = "font-family: monospace; white-space: pre"
BAR_WIDTH = 20  # columns of the bar as text


class NotebookBar:
    """An output with a bar and some facts; a cell that ends early ends the bar too."""

    def __init__(self, shell: Any, name: str) -> None:
        self.shell, self.name = shell, name
        self._handle: Any = None
        self._share = 0.0

    def show(self, share: float, facts: Sequence[str]) -> None:
        """Show how much is done, from 0 to 1, with facts beside the bar."""
        self._share = share
        content = {"text/plain": self._text(facts), "text/html": self._html(facts)}
        if self._handle is None:
            from IPython.display import display

            self.shell.events.register("post_run_cell", self._end_of_cell)
            self._handle = display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)

    def close(self, facts: Sequence[str], share: float | None = None) -> None:
        """Leave the bar as it is, or at `share`, and update it no more."""
        if self._handle is not None:
            self.show(self._share if share is None else share, facts)
            self.shell.events.unregister("post_run_cell", self._end_of_cell)
            self._handle = None

    def _end_of_cell(self, result: object = None) -> None:
        self.close(["stopped"])

    def _text(self, facts: Sequence[str]) -> str:
        bar = "━" * int(BAR_WIDTH * self._share)
        return "  ".join([f"{self.name} {bar:<{BAR_WIDTH}} {self._share:4.0%}", *facts])

    def _html(self, facts: Sequence[str]) -> str:
        text = escape("  ".join([f"{self._share:4.0%}", self.name, *facts]))
        return (
            f'<progress value="{self._share:.3f}" max="1" style="{BAR_STYLE}"></progress>'
            f' <span style="{TEXT_STYLE}">{text}</span>'
        )


def notebook_bar(name: str) -> NotebookBar | None:
    """A bar, if this runs in a notebook; the shell of a terminal has no kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return NotebookBar(shell, name) if hasattr(shell, "kernel") else None
