"""Without a framework, its adapter raises an error that installs it; the others do not need it."""

import subprocess
import sys

import pytest

FRAMEWORKS = {
    "sklearn": ("sklearn", "scikit-learn"),
    "langchain": ("langchain_core", "langchain-core"),
    "llama_index": ("llama_index", "llama-index-core"),
    "haystack": ("haystack", "haystack-ai"),
    "chroma": ("chromadb", "chromadb"),
    "spacy": ("spacy", "spacy"),
}
PROGRAM = """
import importlib, sys
for module in {modules}:
    sys.modules[module] = None  # as if it were not installed
for adapter in {adapters}:
    try:
        importlib.import_module("malmoi.integrations." + adapter)
    except ImportError as error:
        print(type(error).__name__, error)
try:
    import malmoi
    malmoi.sklearn
except malmoi.MissingDependencyError as error:
    print("malmoi.sklearn", error)
"""


@pytest.fixture(scope="module")
def errors() -> list[str]:
    modules = [module for module, _ in FRAMEWORKS.values()]
    program = PROGRAM.format(modules=modules, adapters=list(FRAMEWORKS))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return done.stdout.decode().splitlines()


@pytest.mark.parametrize("adapter", FRAMEWORKS)
def test_the_error_says_what_to_install(adapter: str, errors: list[str]) -> None:
    module, package = FRAMEWORKS[adapter]
    assert (
        f"MissingDependencyError this needs the package '{module}', which is not installed:"
        f" pip install {package}"
    ) in errors


def test_the_attribute_says_so_too(errors: list[str]) -> None:
    assert errors[-1].startswith("malmoi.sklearn this needs the package 'sklearn'")
