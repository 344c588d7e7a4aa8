"""The API reference: a page per topic, with every public name, from its docstring."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import malmoi
from handbook.docstrings import Docstring, described_fields, docstring_of
from handbook.examples import Example, examples
from handbook.signatures import constructor, methods, properties, signature, type_name

TOPICS: dict[str, tuple[str, tuple[str, ...]]] = {  # page: title, packages
    "vectors": ("Vectors and files", ("vectors", "subwords", "formats", "explanation")),
    "queries": ("Queries", ("query",)),
    "text": ("Text", ("text", "text_inputs", "hangul", "vocabulary")),
    "training": ("Word vectors and counts", ("train", "models")),
    "encoders": ("Encoders", ("encode",)),
    "tuning": ("Tuning", ("tune",)),
    "classifiers": ("Classifiers", ("classify",)),
    "evaluation": ("Evaluation", ("evaluate",)),
    "search": ("Search", ("search", "rerank")),
    "projector": ("Projector", ("project",)),
    "client": ("Client, errors, progress", ("client", "errors", "reporting")),
}


@dataclass(frozen=True)
class Topic:
    """A page of the reference: its title, and the public names on it."""

    page: str
    title: str
    names: tuple[str, ...]


def topics() -> list[Topic]:
    """All pages; a name whose package no topic has is an error."""
    by_package = {package: page for page, (_, packages) in TOPICS.items() for package in packages}
    names = dict[str, list[str]]()
    for name in malmoi.__all__:
        package = malmoi._HOME_OF[name].split(".")[1]
        names.setdefault(by_package[package], []).append(name)
    return [Topic(page, title, tuple(names[page])) for page, (title, _) in TOPICS.items()]


def reference_page(topic: Topic) -> str:
    """The Markdown of a page."""
    functions = [name for name in topic.names if not inspect.isclass(getattr(malmoi, name))]
    classes = [name for name in topic.names if inspect.isclass(getattr(malmoi, name))]
    lines = [f"# {topic.title}", "", "`import malmoi as mm`. Generated from the docstrings.", ""]
    for name in [*functions, *classes]:
        lines += [*_entry(name), ""]
    return "\n".join(lines)


def _entry(name: str) -> Iterator[str]:
    """The heading of a name, its signature, and what its docstring says."""
    thing: Any = getattr(malmoi, name)
    docstring = docstring_of(thing)
    yield f"## {name}"
    yield ""
    if inspect.isclass(thing):
        yield from _code(constructor(f"mm.{name}", thing))
        yield from _described(docstring, described_fields(thing))
        yield from _members(name, thing)
    elif inspect.isfunction(thing):
        yield from _code(signature(f"mm.{name}", thing))
        yield from _described(docstring, docstring.args)
    else:
        yield from _code(f"mm.{name} = {type_name(thing)}")
    yield from _makers(name)
    shown = Example(docstring.example) if docstring.example else examples().get(name)
    if shown:
        yield from _example(shown)


def _members(name: str, kind: type) -> Iterator[str]:
    """The properties and methods of a class."""
    table = [(f"`{one}`", text.partition("\n\n")[0]) for one, text in properties(kind)]
    yield from _table(("property", ""), table)
    for method, function in methods(kind):
        docstring = docstring_of(function)
        yield f"### {name}.{method}"
        yield ""
        yield from _code(signature(f".{method}", function))
        yield from _described(docstring, docstring.args)


def _described(docstring: Docstring, parameters: dict[str, str]) -> Iterator[str]:
    """The text, then the parameters, what is returned, and what is raised."""
    yield from (docstring.text, "")
    yield from _table(("parameter", ""), [(f"`{n}`", text) for n, text in parameters.items()])
    if docstring.returns:
        yield from (f"**Returns:** {docstring.returns}", "")
    for error, text in docstring.raises.items():
        yield from (f"**Raises** `{error}`: {text}", "")


def _makers(name: str) -> Iterator[str]:
    """The functions that return values of a class, as links."""
    pages = {one: topic.page for topic in topics() for one in topic.names}
    makers = [
        f"[`mm.{one}`]({pages[one]}.md#{one.lower()})"
        for one in malmoi.__all__
        if inspect.isfunction(function := getattr(malmoi, one))
        and name in type_name(inspect.signature(function).return_annotation).split(" | ")
    ]
    if makers:
        yield from (f"Returned by {', '.join(makers)}.", "")


def _example(example: Example) -> Iterator[str]:
    yield from _code(example.code)
    if example.page:
        yield from (f"From [{example.page}](../{example.page}.md).", "")


def _code(code: str) -> Iterator[str]:
    yield from ("```python", code, "```", "")


def _table(head: tuple[str, str], rows: list[tuple[str, str]]) -> Iterator[str]:
    if not rows:
        return
    yield f"| {head[0]} | {head[1]} |"
    yield "|---|---|"
    for one, text in rows:
        cell = " ".join(text.split()).replace("|", "\\|")
        yield f"| {one} | {cell} |"
    yield ""
