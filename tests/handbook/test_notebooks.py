"""The notebooks: both languages have the same code, outputs are stored, and two are executed."""

import ast
import re
import unicodedata
from typing import Any

import pytest

from handbook.notebooks import (
    NOTEBOOKS,
    code_cells,
    data_of,
    execute_source,
    notebook_names,
    read_notebook,
    read_source,
    without_large_outputs,
)
from tests.korean_terms import TRANSLATIONESE, WRONG, wrong_particles

NAMES = notebook_names()
ENGLISH = [name for name in NAMES if not name.startswith("ko/")]
QUICK = ["1-words", "ko/2-language-models"]  # `make notebooks` executes all
MAX_BYTES = 1_000_000
HOST = re.compile(r"https?://(?!www\.w3\.org/)")  # except the names of XML vocabularies


class WithoutStrings(ast.NodeTransformer):
    """Code without the texts in it: one language may have other ones, and more of them."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        values = [self.visit(one) for one in node.values if isinstance(one, ast.FormattedValue)]
        return ast.JoinedStr(sorted(values, key=ast.dump))

    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        if all(isinstance(one, ast.Constant) and one.value == "" for one in node.elts):
            node.elts = []
        return node


def code_without_texts(source: str) -> str:
    return ast.dump(WithoutStrings().visit(ast.parse(source)))


def shown(notebook: Any) -> list[tuple[str, ...]]:
    """What kinds of outputs the cells have."""
    return [
        tuple(kind for data in data_of(cell) for kind in sorted(data))
        for cell in code_cells(notebook)
    ]


def test_every_notebook_is_in_both_languages() -> None:
    assert ENGLISH
    assert [name.removeprefix("ko/") for name in NAMES if name.startswith("ko/")] == ENGLISH


@pytest.mark.parametrize("name", ENGLISH)
def test_both_languages_have_the_same_code(name: str) -> None:
    english, korean = read_source(name).cells, read_source(f"ko/{name}").cells
    assert [cell.cell_type for cell in english] == [cell.cell_type for cell in korean]
    for one, other in zip(english, korean, strict=True):
        if one.cell_type == "code":
            assert code_without_texts(one.source) == code_without_texts(other.source), one.source
        else:
            assert one.source != other.source
            levels = [re.findall(r"^#+(?= )", cell.source, re.MULTILINE) for cell in (one, other)]
            assert levels[0] == levels[1], one.source


@pytest.mark.parametrize("name", ENGLISH)
def test_korean_uses_our_terms_and_the_right_particles(name: str) -> None:
    for cell in read_source(f"ko/{name}").cells:
        if cell.cell_type == "markdown":
            text = re.sub(r"\$.+?\$|`[^`]*`|\]\(.+?\)", "", cell.source, flags=re.DOTALL)
            assert unicodedata.is_normalized("NFC", text)
            assert wrong_particles(re.sub(r"\*", "", text)) == []
            assert [one for one in (*TRANSLATIONESE, *WRONG) if re.search(one, text)] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_stored_notebook_is_that_of_its_source(name: str) -> None:
    stored, source = read_notebook(name), read_source(name)
    assert [(cell.cell_type, cell.source) for cell in stored.cells] == [
        (cell.cell_type, cell.source) for cell in source.cells
    ], f"run `python -m handbook.notebooks {name}`"
    assert source.cells[0].source.startswith("# ")


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_stored_and_none_is_an_error_or_a_warning(name: str) -> None:
    for cell in code_cells(read_notebook(name)):
        kinds = [output.output_type for output in cell.outputs]
        assert kinds, cell.source
        assert "error" not in kinds, cell.source
        assert not [output for output in cell.outputs if output.get("name") == "stderr"]


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_are_small_and_load_nothing_from_elsewhere(name: str) -> None:
    text = (NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8")
    assert len(text.encode()) < MAX_BYTES
    assert not re.search(r"/(work|home|root|tmp)/", text)
    assert not HOST.search(text)


@pytest.mark.parametrize("name", QUICK)
def test_the_quickest_notebooks_run(name: str) -> None:
    """And show what is stored, in kind: numbers differ between processors."""
    executed = without_large_outputs(execute_source(name))
    assert shown(executed) == shown(read_notebook(name))
