"""The notebooks: cells written as Python files, executed, and stored with their outputs.

`python -m handbook.notebooks` executes all of them (`make notebooks`), with names only those:
`python -m handbook.notebooks 1-words ko/1-words`. A source is a Python file in the percent format:
`# %%` begins a cell of code, and `# %% [markdown]` one of text, in comments.
"""

import argparse
import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
SOURCES = NOTEBOOKS / "source"
TIMEOUT = 300  # seconds for a cell
MAX_STORED = 400_000  # characters of an output
MAX_TEXT = 2000  # of one as text
MARKER = re.compile(r"^# %%(?P<markdown> \[markdown\])?\n", re.MULTILINE)
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def notebook_names() -> list[str]:
    """The names of all notebooks: `1-words`, …, and `ko/1-words`, … of the Korean ones."""
    paths = sorted(SOURCES.glob("*.py")) + sorted(SOURCES.glob("ko/*.py"))
    return [path.relative_to(SOURCES).with_suffix("").as_posix() for path in paths]


def read_source(name: str) -> Any:
    """The notebook of a source, without outputs."""
    text = (SOURCES / f"{name}.py").read_text(encoding="utf-8")
    _, *parts = MARKER.split(text)
    cells = []
    for markdown, body in zip(parts[::2], parts[1::2], strict=True):
        if markdown:
            cells.append(new_markdown_cell(re.sub(r"^# ?", "", body.strip(), flags=re.MULTILINE)))
        else:
            cells.append(new_code_cell(body.strip()))
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    return new_notebook(cells=cells)


def read_notebook(name: str) -> Any:
    """A stored notebook, with its outputs."""
    return nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)


def execute(notebook: Any, folder: Path) -> Any:
    """Run all cells in a new kernel; raises `CellExecutionError` where one fails."""
    client = NotebookClient(notebook, timeout=TIMEOUT, kernel_name="python3", record_timing=False)
    return client.execute(cwd=str(folder))


def execute_source(name: str) -> Any:
    """Execute a notebook in a folder of its own, on one thread, so that numbers are repeatable."""
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    with TemporaryDirectory() as folder:
        return execute(read_source(name), Path(folder))


def code_cells(notebook: Any) -> list[Any]:
    """The cells that have outputs."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def data_of(cell: Any) -> list[dict[str, str]]:
    """The outputs of a cell by their types."""
    return [output.data for output in cell.outputs if "data" in output]


def without_large_outputs(notebook: Any) -> Any:
    """The notebook without outputs that are too large to store: running a cell shows them."""
    for cell in code_cells(notebook):
        for data in data_of(cell):
            if len(data.get("text/html", "")) > MAX_STORED:
                del data["text/html"]
            if len(data.get("text/plain", "")) > MAX_TEXT:
                data["text/plain"] = data["text/plain"].partition("(")[0]
    return notebook


def store(name: str) -> None:
    """Execute a notebook and store it with its outputs."""
    notebook = without_large_outputs(execute_source(name))
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    path = NOTEBOOKS / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m handbook.notebooks")
    parser.add_argument("names", nargs="*", default=notebook_names())
    for chosen in parser.parse_args().names:
        store(chosen)
