"""The shape of the source tree: small folders, no stubs of modules, one name for one thing."""

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path

import malmoi
from tests.pages import DOCS
from tests.source_tree import PAGE, ROOT, SOURCE, modules, page_with_tree

MOST_ENTRIES = 14
LARGE_FOLDERS = {
    ".": "the packages themselves",
    "classify": "one folder per kind of classifier",
    "cli": "one file per command",
    "web/projector": "one file per JavaScript module of the page",
}
SMALL = 40  # lines
SMALL_MODULES = {  # with one importer each, and why they stay
    "malmoi.text.word_list": "one file per format",
}


def parsed() -> dict[str, ast.Module]:
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in modules().items()}


def importers() -> dict[str, set[str]]:
    names, found = modules(), defaultdict(set)
    for name, module in parsed().items():
        for node in ast.walk(module):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    found[full if full in names else str(node.module)].add(name)
    return found


def test_no_folder_is_a_flat_list() -> None:
    folders = [SOURCE, *(path for path in SOURCE.rglob("*") if path.is_dir())]
    large = {
        str(folder.relative_to(SOURCE))
        for folder in folders
        if sum(path.name != "__pycache__" for path in folder.iterdir()) > MOST_ENTRIES
        and folder.name != "__pycache__"
    }
    assert large <= LARGE_FOLDERS.keys()


def test_no_small_module_serves_one_other_alone() -> None:
    users = importers()
    small = {
        name
        for name, path in modules().items()
        if len(path.read_text(encoding="utf-8").splitlines()) < SMALL
        and len(users[name]) == 1
        and path.name != "__init__.py"
        and not name.startswith("malmoi.cli.")
    }
    assert small == SMALL_MODULES.keys()


def test_no_class_and_no_alias_is_defined_twice() -> None:
    classes, aliases = Counter[str](), Counter[str]()
    for module in parsed().values():
        for node in module.body:
            if isinstance(node, ast.ClassDef):
                classes[node.name] += 1
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name, is_variable = node.targets[0].id, "TypeVar(" in ast.unparse(node.value)
                aliases[name] += bool(re.fullmatch(r"[A-Z][a-z]\w*", name)) and not is_variable
    assert [name for name, count in (classes + aliases).items() if count > 1] == []


def test_warnings_are_raised_in_one_place() -> None:
    users = [path for path in modules().values() if "warnings.warn(" in path.read_text("utf-8")]
    assert users == [SOURCE / "errors.py"]


def test_training_functions_take_few_parameters() -> None:
    for name in malmoi.__all__:
        if name.startswith("train_"):
            function = getattr(malmoi, name)
            assert function.__code__.co_argcount + function.__code__.co_kwonlyargcount <= 7, name


def test_pages_import_public_names_alone() -> None:
    for page in [*DOCS.glob("*.md"), ROOT / "README.md"]:
        imports = r"^(?:from|import) malmoi\.(?!compat\.|integrations\.)\S+.*$"
        deep = re.findall(imports, page.read_text("utf-8"), re.MULTILINE)
        assert deep == [], page


def test_the_tree_on_the_page_is_the_tree_of_the_source() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page_with_tree(page) == page, "run python -m tests.source_tree"


def test_every_module_begins_with_what_it_does() -> None:
    for name, path in modules().items():
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        assert len(docstring.partition("\n")[0]) > 20, f"{name}: {Path(path).name}"
