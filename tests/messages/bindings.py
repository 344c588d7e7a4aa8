"""What the names in a function stand for: its assignments, loops, parameters and results."""

import ast
from collections.abc import Iterator

from tests.messages.sources import Function, called_name


def results(function: Function) -> Iterator[ast.expr]:
    """The expressions that a function returns or yields."""
    for node in ast.walk(function):
        if isinstance(node, ast.Return | ast.Yield) and node.value is not None:
            yield from node.value.elts if isinstance(node.value, ast.List) else (node.value,)


def assignments(function: Function, name: str) -> Iterator[ast.expr]:
    """What a function assigns to a local name."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.AugAssign | ast.AnnAssign) and node.value is not None:
            targets, value = [node.target], node.value
        else:
            continue
        for target in targets:
            if isinstance(target, ast.Name) and target.id == name:
                yield value
            elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                for each, part in zip(target.elts, value.elts, strict=False):
                    if isinstance(each, ast.Name) and each.id == name:
                        yield part


def appended(function: Function, name: str) -> Iterator[ast.expr]:
    """What a function appends to a local list."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and called_name(node) == "append":
            assert isinstance(node.func, ast.Attribute)
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id == name:
                yield node.args[0]


def loop_keys(function: Function, name: str) -> Iterator[ast.expr]:
    """What a loop runs over: a local list, or the keys of a dictionary and its items."""
    for node in ast.walk(function):
        if not isinstance(node, ast.For | ast.comprehension):
            continue
        target, call = node.target, node.iter
        first = target.elts[0] if isinstance(target, ast.Tuple) else target
        if not (isinstance(first, ast.Name) and first.id == name):
            continue
        if isinstance(call, ast.Name):
            yield from appended(function, call.id)
        if not isinstance(call, ast.Call):
            continue
        source = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(source, ast.Name) and called_name(call) == "items":
            for value in assignments(function, source.id):
                if isinstance(value, ast.Dict):
                    yield from filter(None, value.keys)


def parameter_names(function: Function) -> list[str]:
    """The names of a function's parameters, those by position first."""
    arguments = function.args
    return [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
