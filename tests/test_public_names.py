"""The public names: each has a documented signature, and every type in a signature is public."""

import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, GenericAlias
from typing import Any, get_args

import pytest

import malmoi
from handbook.docstrings import described_fields

NAMES = malmoi.__all__
FUNCTIONS = [name for name in NAMES if isinstance(getattr(malmoi, name), FunctionType)]
SETTINGS = [
    *("CombinedClassifier", "Cooccurrence", "Elmo", "EmbeddingClassifier", "EncoderClassifier"),
    *("FastText", "FineTunedClassifier", "GloVe", "LSA", "MajorityClassifier", "NGram"),
    *("NgramClassifier", "NNLM", "Word2Vec"),
]
CLASSES = [  # whose methods are for users
    "Activations",
    "Classifier",
    "Client",
    "Index",
    "Occurrences",
    "SubwordVectors",
    "Vectors",
    "Vocabulary",
]
INTERNAL = {"Index.change"}


SCALE = [
    name for name in malmoi.scale.__all__ if isinstance(getattr(malmoi.scale, name), FunctionType)
]


def parameters(function: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


def undocumented(function: Callable[..., Any]) -> list[str]:
    """The parameters that the docstring does not list under Args, and sections that it lacks."""
    docstring = inspect.getdoc(function) or ""
    listed = re.findall(r"^    \*{0,2}(\w+): ", docstring, re.MULTILINE)
    missing = [name for name in parameters(function) if name not in listed]
    returns = inspect.signature(function).return_annotation
    if returns not in (None, "None") and not re.search("^(Returns|Yields):", docstring, re.M):
        missing.append("Returns")
    return missing


def methods() -> dict[str, Callable[..., Any]]:
    return {
        f"{name}.{method}": getattr(getattr(malmoi, name), method)
        for name in CLASSES
        for method in vars(getattr(malmoi, name))
        if not method.startswith("_") and callable(getattr(getattr(malmoi, name), method))
    }


@pytest.mark.parametrize("name", NAMES)
def test_public_names_have_a_docstring(name: str) -> None:
    assert len(inspect.getdoc(getattr(malmoi, name)) or "") > 15


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_document_parameters_results_and_errors(name: str) -> None:
    function = getattr(malmoi, name)
    assert undocumented(function) == []
    assert "\nRaises:\n" in (inspect.getdoc(function) or "")


@pytest.mark.parametrize("name", SCALE)
def test_functions_of_scale_document_parameters_results_and_errors(name: str) -> None:
    function = getattr(malmoi.scale, name)
    assert undocumented(function) == []
    assert "\nRaises:\n" in (inspect.getdoc(function) or "")


@pytest.mark.parametrize("name", sorted(methods().keys() - INTERNAL))
def test_methods_document_parameters_and_results(name: str) -> None:
    assert undocumented(methods()[name]) == []


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_is_described(name: str) -> None:
    """In the docstring of the class, or in that of the attribute, which is the command's help."""
    settings = getattr(malmoi, name)
    described = {
        *re.findall(r"`(\w+)", inspect.getdoc(settings) or ""),
        *described_fields(settings),
    }
    assert set(parameters(settings)) <= described


def types_in(annotation: Any) -> set[type]:
    """The classes of malmoi in an annotation."""
    if isinstance(annotation, type) and not isinstance(annotation, GenericAlias):
        return {annotation} if annotation.__module__.startswith("malmoi.") else set()
    return set().union(*map(types_in, get_args(annotation))) if get_args(annotation) else set()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_types_of_signatures_are_public(name: str) -> None:
    annotations = getattr(malmoi, name).__annotations__.values()
    used = {each.__name__ for annotation in annotations for each in types_in(annotation)}
    assert used <= {*malmoi.__all__}


def test_type_checkers_read_the_same_names() -> None:
    stub = ast.parse(Path(malmoi.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.asname: (node.module, alias.name) for node in imports for alias in node.names}
    expected = {name: (module, name) for name, module in malmoi._HOME_OF.items()}
    for name, module in malmoi._MODULES.items():
        expected[name] = (module.rpartition(".")[0], name)
    assert homes == expected


def test_completion_shows_every_name() -> None:
    assert dir(malmoi) == sorted([*malmoi.__all__, *malmoi._MODULES, "__version__"])


@pytest.mark.parametrize(
    ("name", "ours"), [("ppmi", "mutual_information"), ("PPMI", "mutual_information")]
)
def test_names_of_other_packages_lead_to_ours(name: str, ours: str) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{name}': use malmoi.{ours}"):
        getattr(malmoi, name)


def test_every_hint_is_a_public_name_and_no_public_name_needs_one() -> None:
    assert {*malmoi._KNOWN_ELSEWHERE_AS.values()} <= {*malmoi.__all__}
    assert not {*malmoi._KNOWN_ELSEWHERE_AS} & {*malmoi.__all__}
