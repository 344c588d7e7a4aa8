"""The notebook of the documentation, executed: `python -m tests.notebook` renews its outputs.

The cells are edited in the notebook itself. An output that is too large to store is left out:
opening the notebook and running the cell shows it.
"""

from typing import Any

import nbformat

from handbook.notebooks import execute, without_large_outputs
from tests.pages import DOCS

NOTEBOOK = DOCS / "notebook.ipynb"


def read() -> Any:
    return nbformat.read(NOTEBOOK, as_version=4)


if __name__ == "__main__":
    nbformat.write(without_large_outputs(execute(read(), DOCS)), NOTEBOOK)
