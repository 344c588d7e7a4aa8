"""A scene displayed at once: in a frame of a notebook, or in the browser.

The frame holds the whole page, which requests nothing, and is a sandbox: its script cannot reach
the notebook.
"""

import sys
import tempfile
import webbrowser
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

from malmoi.project.page.page import page_html, write_page
from malmoi.project.scene import Scene

FRAME_HEIGHT = 600  # pixels
MAX_FRAME_CHARS = 30_000_000  # a notebook that holds more opens slowly


def as_frame(scene: Scene) -> str:
    """The page as an `iframe` element; of a page that is too large, what to do instead."""
    page = page_html(scene)
    if len(page) > MAX_FRAME_CHARS:
        return (
            f"<p>The page of {escape(scene.title)} has {len(page) / 1e6:.0f} MB, too many for a"
            " notebook: write it with <code>mm.write_page(scene, 'page.html')</code>.</p>"
        )
    return (
        f'<iframe srcdoc="{escape(page)}" title="{escape(scene.title)}"'
        ' sandbox="allow-scripts allow-downloads"'
        f' style="width: 100%; height: {FRAME_HEIGHT}px; border: 0"></iframe>'
    )


def show(scene: Scene) -> Path | None:
    """Display the page below the cell of a notebook, or else open it in the browser.

    Returns:
        The temporary file that the browser was told to open; None in a notebook.
    """
    notebook = notebook_shell()
    if notebook is not None:
        import_module("IPython.display").display(scene)
        return None
    with tempfile.NamedTemporaryFile(prefix="malmoi-", suffix=".html", delete=False) as file:
        path = Path(file.name)
    write_page(scene, path)
    webbrowser.open(path.as_uri())
    return path


def notebook_shell() -> Any:
    """The shell of the notebook that this code runs in; None in a terminal or a script."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if shell is not None and hasattr(shell, "kernel") else None
