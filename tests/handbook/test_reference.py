"""The API reference: every public name, with its parameters and an example that runs."""

import inspect
import os
from pathlib import Path

import pytest

import malmoi
from handbook.docstrings import Docstring, described_fields, docstring_of
from handbook.examples import examples
from handbook.reference import reference_page, topics
from handbook.signatures import signature, type_name
from tests.rerank.worlds import save_cross_encoder

FUNCTIONS = [name for name in malmoi.__all__ if inspect.isfunction(getattr(malmoi, name))]
WITH_EXAMPLE = [name for name in malmoi.__all__ if docstring_of(getattr(malmoi, name)).example]


def test_every_public_name_is_on_one_page() -> None:
    pages = {topic.page: reference_page(topic) for topic in topics()}
    for name in malmoi.__all__:
        assert [page for page, text in pages.items() if f"\n## {name}\n" in text], name
    assert sorted(name for topic in topics() for name in topic.names) == malmoi.__all__


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_an_example(name: str) -> None:
    assert name in WITH_EXAMPLE or name in examples()


def test_an_entry_has_signature_parameters_results_errors_and_example() -> None:
    (topic,) = [topic for topic in topics() if topic.page == "queries"]
    entry = reference_page(topic).split("\n## similarity\n")[1].split("\n## ")[0]
    assert "    vectors: Vectors,\n    a: str | ndarray[float32],\n" in entry
    assert "| `vectors` | " in entry
    assert "**Returns:** " in entry
    assert "**Raises** `UnknownWordError`: " in entry
    assert 'mm.similarity(vectors, "coffee", "tea")' in entry
    assert "From [asking](../asking.md)." in entry


def test_classes_name_their_methods_and_the_functions_that_return_them() -> None:
    (topic,) = [topic for topic in topics() if topic.page == "search"]
    entry = reference_page(topic).split("\n## Index\n")[1].split("\n## ")[0]
    assert "### Index.search" in entry
    assert "[`mm.open_index`](search.md#open_index)" in entry


def test_settings_describe_their_fields() -> None:
    assert described_fields(malmoi.TuneSettings)["epochs"]
    assert "freeze_layers: int = 0" in reference_page(
        next(topic for topic in topics() if topic.page == "tuning")
    )


def test_sections_of_a_docstring() -> None:
    def pour(tea: str, *cups: int) -> int:
        """Pour tea.

        Into cups.

        Args:
            tea: Which
                one.
            *cups: How many.

        Returns:
            What is
            left.

        Raises:
            ValueError: There is none.

        Example:
            pour("green")
        """
        return 0

    assert docstring_of(pour) == Docstring(
        "Pour tea.\n\nInto cups.",
        {"tea": "Which one.", "cups": "How many."},
        "What is left.",
        {"ValueError": "There is none."},
        'pour("green")',
    )
    assert signature("pour", pour) == "pour(tea: str, *cups: int) -> int"


def test_types_have_short_names() -> None:
    assert type_name(malmoi.Vectors | None) == "Vectors | None"
    assert type_name("malmoi.vectors.Vectors") == "Vectors"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that examples name."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "pairs.tsv").write_text("tea\tcoffee\t8\nking\tqueen\t7\ncar\tbread\t1\n")
    (folder / "scifact" / "qrels").mkdir(parents=True)
    (folder / "scifact" / "queries.jsonl").write_text('{"_id": "q", "text": "rain"}\n')
    qrels = folder / "scifact" / "qrels" / "train.tsv"
    qrels.write_text("query-id\tcorpus-id\tscore\nq\t1\t1\n")
    save_cross_encoder(folder / "cross-encoder")
    return folder


@pytest.mark.filterwarnings("ignore::malmoi.MalmoiWarning")
@pytest.mark.parametrize("name", WITH_EXAMPLE)
def test_examples_of_docstrings_run(
    name: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    names: dict[str, object] = {"mm": malmoi, "Path": Path, "os": os}
    code = docstring_of(getattr(malmoi, name)).example
    exec(code, names)
    last, _, expected = code.splitlines()[-1].partition("  # ")
    assert not expected or repr(eval(last, names)) == expected
