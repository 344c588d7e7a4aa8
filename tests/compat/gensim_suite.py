"""Runs gensim's own tests with malmoi's classes in place of gensim's, and prints their outcomes.

`python -m tests.compat.gensim_suite FOLDER` writes one JSON object: the outcome of each test.
"""

import json
import sys
import warnings
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import gensim.models
import gensim.test
import pytest

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


class Recorder:
    """A plugin of pytest: the outcome of each test, and the last line of its error."""

    def __init__(self) -> None:
        self.outcomes: dict[str, tuple[str, str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.replace("/", ".").split(".py::")[-1].replace("::", ".")
        file = Path(report.nodeid.split("::")[0]).stem
        if report.when == "call" or report.outcome != "passed":
            message = str(report.longrepr).strip().splitlines()[-1] if report.failed else ""
            self.outcomes[f"{file}.{name}"] = (report.outcome, message)


def main(folder: Path) -> None:
    replace_classes()
    provide_testfixtures()
    warnings.simplefilter("ignore")
    recorder = Recorder()
    home = Path(gensim.test.__file__).parent
    options = ["-c", str(folder / "none.ini"), "--rootdir", str(home), "-p", "no:cacheprovider"]
    (folder / "none.ini").write_text("[pytest]\n")
    files = [str(home / name) for name in FILES]
    pytest.main([*options, "-q", "-p", "no:xdist", *sys.argv[2:], *files], plugins=[recorder])
    (folder / "outcomes.json").write_text(json.dumps(recorder.outcomes))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
