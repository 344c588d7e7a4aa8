"""The rule by which the page's modules become one script."""

from importlib.resources import files

import pytest

from malmoi.web.modules import joined


def test_a_module_is_a_function_that_returns_what_it_exports() -> None:
    modules = {
        "main": 'import { double, ONE as one } from "./numbers.js";\nfound(double(one));\n',
        "numbers": "export const ONE = 1;\nexport function double(n) {\n  return 2 * n;\n}\n",
    }
    assert joined(modules, "main") == (
        "const $numbers = (() => {\nconst ONE = 1;\nfunction double(n) {\n  return 2 * n;\n}\n"
        "return { ONE, double };\n})();\n"
        "const $main = (() => {\nconst { double, ONE: one } = $numbers;\nfound(double(one));\n"
        "return {  };\n})();\n"
    )


def test_modules_that_pages_share_are_in_another_folder() -> None:
    modules = {
        "main": 'import { one } from "../shared/numbers.js";\n',
        "numbers": "export const one = 1;\n",
    }
    assert "const { one } = $numbers;" in joined(modules, "main")


def test_modules_come_after_those_they_import_and_once() -> None:
    modules = {
        "a": 'import { b } from "./b.js";\nimport { c } from "./c.js";\n',
        "b": 'import { c } from "./c.js";\nexport const b = c;\n',
        "c": "export const c = 1;\n",
        "unused": "export const d = 1;\n",
    }
    script = joined(modules, "a")
    order = [line[7] for line in script.splitlines() if line.startswith("const $")]
    assert order == ["c", "b", "a"]


@pytest.mark.parametrize(
    "line",
    [
        'import x from "./b.js";',
        'import * as x from "./b.js";',
        'import "./b.js";',
        'import { x } from "https://elsewhere/b.js";',
        "export default 1;",
        "export { x };",
        "export let x = 1;",
    ],
)
def test_other_forms_are_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"a\.js: there is no rule for"):
        joined({"a": line + "\n", "b": ""}, "a")


def test_modules_that_import_each_other_are_refused() -> None:
    modules = {"a": 'import { b } from "./b.js";\n', "b": 'import { a } from "./a.js";\n'}
    with pytest.raises(ValueError, match="a → b → a"):
        joined(modules, "a")


def test_the_pages_files_cannot_end_their_elements() -> None:
    folders = [folder for folder in (files("malmoi") / "web").iterdir() if folder.is_dir()]
    pages = [file for folder in folders for file in folder.iterdir()]
    for file in pages:
        if file.name.endswith((".js", ".css")):
            text = file.read_text(encoding="utf-8").lower()
            assert "</script" not in text
            assert "</style" not in text
            assert "<!--" not in text
            assert "innerhtml" not in text
            assert "http" not in text
    assert {"theme.js", "search.js", "plots.js"} <= {file.name for file in pages}
