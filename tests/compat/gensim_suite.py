"""Runs gensim's own tests and documentation with malmoi's classes in place of gensim's.

`python -m tests.compat.gensim_suite FOLDER` writes `outcomes.json`: for each test, and for each
statement of the documentation, its outcome and the last line of its error. A test that never runs a
line of malmoi.compat is "untouched", whatever its outcome.
"""

import contextlib
import doctest
import io
import json
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any

import gensim.downloader
import gensim.models
import gensim.test
import gensim.test.utils
import pytest

import malmoi as mm
from malmoi.compat import gensim as ours

FILES = ["test_keyedvectors.py", "test_word2vec.py", "test_fasttext.py"]
REPLACED = {  # names of gensim's modules that are ours
    "gensim.models": ["KeyedVectors", "Word2Vec", "FastText"],
    "gensim.models.keyedvectors": ["KeyedVectors"],
    "gensim.models.word2vec": ["KeyedVectors", "LineSentence", "PathLineSentences", "Word2Vec"],
    "gensim.models.fasttext": [
        "FastText",
        "FastTextKeyedVectors",
        "KeyedVectors",
        "load_facebook_model",
        "load_facebook_vectors",
        "save_facebook_model",
    ],
    "gensim.models.callbacks": ["CallbackAny2Vec"],
}
DOCUMENTED = [name for name in REPLACED if name != "gensim.models"]
OURS = str(Path(ours.__file__).parent)
Outcomes = dict[str, tuple[str, str]]


def replace_classes() -> None:
    """Let programs that import gensim get malmoi's classes."""
    for module, names in REPLACED.items():
        for name in names:
            setattr(sys.modules[module], name, getattr(ours, name))


def provide_testfixtures() -> None:
    """gensim's tests import `log_capture`, of a package that is not installed."""
    module: Any = ModuleType("testfixtures")
    module.log_capture = lambda: lambda test: lambda self: test(self, SimpleNamespace())
    sys.modules.setdefault("testfixtures", module)


@contextlib.contextmanager
def watch_for_malmoi() -> Iterator[list[str]]:
    """The first file of malmoi.compat that is executed meanwhile, if any."""
    touched: list[str] = []

    def profile(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            touched.append(frame.f_code.co_filename)
            sys.setprofile(None)

    sys.setprofile(profile)
    try:
        yield touched
    finally:
        sys.setprofile(None)


class Recorder:
    """A plugin of pytest: the outcome of each test, and the last line of its error."""

    def __init__(self) -> None:
        self.outcomes: Outcomes = {}
        self.touched: set[str] = set()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        with watch_for_malmoi() as touched:
            yield
        name = self.name_of(item.nodeid)
        outcome, message = self.outcomes[name]
        if not touched and outcome != "skipped":
            self.outcomes[name] = "untouched", message

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            message = str(report.longrepr).strip().splitlines()[-1] if report.failed else ""
            self.outcomes[self.name_of(report.nodeid)] = (report.outcome, message)

    def name_of(self, nodeid: str) -> str:
        return nodeid.removeprefix("gensim/test/").split("/")[-1].replace(".py::", "::")


def run_tests(folder: Path) -> Outcomes:
    """The outcomes of gensim's tests; those of Word2Vec would run again with FastText's."""
    recorder = Recorder()
    home = Path(gensim.test.__file__).parent
    (folder / "none.ini").write_text("[pytest]\n")
    options = ["-c", str(folder / "none.ini"), "--rootdir", str(home), "--tb=short", "-q"]
    options += ["-p", "no:cacheprovider", "--deselect", "test_fasttext.py::TestWord2VecModel"]
    pytest.main([*options, *(str(home / name) for name in FILES)], plugins=[recorder])
    return recorder.outcomes


def documentation() -> dict[str, list[doctest.Example]]:
    """The statements of each docstring of gensim's modules, before their classes are replaced."""
    finder = doctest.DocTestFinder()
    tests = [test for name in DOCUMENTED for test in finder.find(sys.modules[name])]
    return {test.name: test.examples for test in tests if test.examples}


def run_statement(example: doctest.Example, names: dict[str, object]) -> tuple[str, str]:
    """Execute a statement; what it prints or is must be what the documentation shows."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(example.source, "documentation", "single"), names)
    except Exception as error:  # whatever it raises, the statement has failed
        return "failed", f"{type(error).__name__}: {error}"
    expected = "".join(example.want.split())
    if expected and expected != "".join(printed.getvalue().split()):
        return "failed", f"printed {printed.getvalue().strip()[:80]}"
    return "passed", ""


def run_documentation(examples: dict[str, list[doctest.Example]]) -> Outcomes:
    """The outcomes of all statements; vectors to download are those that malmoi has installed."""
    glove: Any = ours.KeyedVectors.of(mm.load("glove-6b-50d", limit=20_000))
    gensim.downloader.load = lambda name: glove
    outcomes: Outcomes = {}
    for name, statements in examples.items():
        module = next(one for one in reversed(DOCUMENTED) if name.startswith(one))
        names = vars(sys.modules[module]).copy()
        names |= {"Word2Vec": ours.Word2Vec, "common_texts": gensim.test.utils.common_texts}
        for number, example in enumerate(statements, 1):
            source = example.source.splitlines()[0][:70]
            outcomes[f"{name} {number}: {source}"] = run_statement(example, names)
    return outcomes


def main(folder: Path) -> None:
    warnings.simplefilter("ignore")
    os.chdir(folder)  # some tests write files where they are
    examples = documentation()
    replace_classes()
    provide_testfixtures()
    outcomes = run_tests(folder) | run_documentation(examples)
    (folder / "outcomes.json").write_text(json.dumps(outcomes))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
