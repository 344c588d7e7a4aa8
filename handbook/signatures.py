"""Signatures as people read them: short names of types, one parameter per line where it is long."""

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Protocol

WIDTH = 88
QUALIFIED = re.compile(r"\b(?:[a-z_]\w*\.)+(?=\w)")
ARRAY = re.compile(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[(\w+)\]\]")
OPTIONAL = re.compile(r"Optional\[([^\[\]]+)\]")


def signature(name: str, function: Callable[..., Any]) -> str:
    """`name(a: int, *, b: str = "x") -> Vectors`."""
    found = inspect.signature(function)
    shown = [_parameter(one) for one in found.parameters.values() if one.name != "self"]
    kinds = [one.kind for one in found.parameters.values() if one.name != "self"]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        shown.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    result = found.return_annotation
    arrow = "" if result in (inspect.Signature.empty, None) else f" -> {type_name(result)}"
    line = f"{name}({', '.join(shown)}){arrow}"
    if len(line) <= WIDTH or not shown:
        return line
    return f"{name}(\n" + "".join(f"    {one},\n" for one in shown) + f"){arrow}"


def constructor(name: str, kind: type) -> str:
    """The signature of a class that users create; only its name if they don't."""
    if issubclass(kind, Exception) or Protocol in kind.__bases__ or inspect.isabstract(kind):
        return name
    return signature(name, kind) if not is_dataclass(kind) else _of_dataclass(name, kind)


def methods(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public methods of a class, those of its bases in malmoi too, which have a docstring."""
    for name, member in inspect.getmembers(kind):
        plain = inspect.getattr_static(kind, name)
        function = plain.__func__ if isinstance(plain, classmethod | staticmethod) else member
        home = getattr(function, "__module__", "") or ""
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        if home.startswith("malmoi") and inspect.getdoc(function):
            yield name, function


def properties(kind: type) -> Iterator[tuple[str, str]]:
    """The public properties of a class, and what their docstrings say."""
    for name in dir(kind):
        found = inspect.getattr_static(kind, name)
        read = getattr(found, "fget", None) or getattr(found, "func", None)
        if not name.startswith("_") and read is not None and inspect.getdoc(read):
            yield name, inspect.getdoc(read) or ""


def type_name(annotation: object) -> str:
    """A type by its last name: `Vectors | None`."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = QUALIFIED.sub("", text).replace("NoneType", "None")
    return OPTIONAL.sub(r"\1 | None", ARRAY.sub(r"ndarray[\1]", text))


def _of_dataclass(name: str, kind: type) -> str:
    """The fields of a dataclass, one per line."""
    lines = []
    for one in fields(kind):
        if not one.init or one.name.startswith("_"):
            continue
        default = "" if one.default is MISSING else f" = {_value(one.default)}"
        lines.append(f"    {one.name}: {type_name(one.type)}{default},\n")
    return f"{name}(\n{''.join(lines)})" if lines else f"{name}()"


def _parameter(one: inspect.Parameter) -> str:
    stars = "*" if one.kind is one.VAR_POSITIONAL else "**" if one.kind is one.VAR_KEYWORD else ""
    kind = "" if one.annotation is one.empty else f": {type_name(one.annotation)}"
    if one.default is one.empty:
        return f"{stars}{one.name}{kind}"
    return f"{one.name}{kind} = {_value(one.default)}"


def _value(default: object) -> str:
    """A default value; that of an object by the name of its class."""
    shown = repr(default)
    return f"{type(default).__name__}()" if " object at 0x" in shown else QUALIFIED.sub("", shown)
