"""The notebook of the documentation, executed: `python -m tests.notebook` renews its outputs.

The cells are edited in the notebook itself. An output that is too large to store is left out:
opening the notebook and running the cell shows it.
"""

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from tests.pages import DOCS

NOTEBOOK = DOCS / "notebook.ipynb"
TIMEOUT = 60  # seconds for a cell
MAX_STORED = 400_000  # characters of an output
MAX_TEXT = 2000  # of one as text


def read(path: Path = NOTEBOOK) -> Any:
    return nbformat.read(path, as_version=4)


def execute(notebook: Any, folder: Path = DOCS) -> Any:
    """Run all cells in a new kernel; raises `CellExecutionError` where one fails."""
    client = NotebookClient(notebook, timeout=TIMEOUT, kernel_name="python3", record_timing=False)
    return client.execute(cwd=str(folder))


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def data_of(cell: Any) -> list[dict[str, str]]:
    """The outputs of a cell by their types."""
    return [output.data for output in cell.outputs if "data" in output]


def without_large_outputs(notebook: Any) -> Any:
    for cell in code_cells(notebook):
        for data in data_of(cell):
            if len(data.get("text/html", "")) > MAX_STORED:
                del data["text/html"]
            if len(data.get("text/plain", "")) > MAX_TEXT:
                data["text/plain"] = data["text/plain"].partition("(")[0]
    return notebook


if __name__ == "__main__":
    nbformat.write(without_large_outputs(execute(read())), NOTEBOOK)
