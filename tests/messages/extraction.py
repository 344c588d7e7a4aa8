"""The messages of malmoi's sources: templates of errors, warnings, stages, and phrases in them.

A template is the text of an f-string whose expressions are placeholders with simple names. Where a
placeholder stands for English words, chosen nearby, these phrases are messages too.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.messages.bindings import (
    appended,
    assignments,
    loop_keys,
    parameter_names,
    results,
)
from tests.messages.sources import Function, Module, Sources, called_name
from tests.messages.templates import is_english, joined_sum, template_of

HTTP_ERRORS = {"ApiError", "RequestError", "OverloadedError", "UnknownModelError"}
REPORTS = {"warn", "note", "with_notes", "stage", "translate"}
SENTENCES = {"sentences", "warnings", "note"}  # methods whose results are reported
LEFT_OUT = ("client/", "compat/", "kernels/")  # for Python only: no command gets there
MAX_DEPTH = 4


@dataclass
class Message:
    """A template, the files it is in, and whether it is only a part of other messages."""

    template: str
    files: list[str] = field(default_factory=list)
    is_phrase: bool = False


class Extraction:
    """Collects the messages of all modules; `found` has them by their text without names."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.found: dict[str, Message] = {}
        self._phrases_of: dict[int, ast.expr] = {}  # with the nodes, so that ids stay theirs

    def run(self) -> list[Message]:
        """Collect the messages of every error and report."""
        names = (self.sources.errors - HTTP_ERRORS) | REPORTS
        for name in sorted(names):
            for module, call in self.sources.calls.get(name, ()):
                if call.args:
                    self._message(module, call.args[0])
        for module in self.sources.modules.values():
            self._sentences(module)
            self._own_errors(module)
            self._notes(module)
        for skeleton in list(self.found):  # a phrase at the end may be there or not
            longer = self.found.get(skeleton + "{}")
            if longer is not None:
                longer.files = sorted({*longer.files, *self.found.pop(skeleton).files})
        return list(self.found.values())

    def _notes(self, module: Module) -> None:
        """The sentences of local variables that are called `notes`."""
        for function in module.functions.values():
            for value in (*assignments(function, "notes"), *appended(function, "notes")):
                for each in value.elts if isinstance(value, ast.Tuple | ast.List) else (value,):
                    self._message(module, each)

    def _own_errors(self, module: Module) -> None:
        """What the classes of errors pass to their base class."""
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef) and node.name in self.sources.errors - HTTP_ERRORS:
                for call in ast.walk(node):
                    if isinstance(call, ast.Call) and called_name(call) == "__init__":
                        self._message(module, call.args[0])

    def _sentences(self, module: Module) -> None:
        """What methods with the names of `SENTENCES` return, or append to what they return."""
        for function in ast.walk(module.tree):
            if isinstance(function, Function) and function.name in SENTENCES:
                for expression in results(function):
                    self._message(module, expression)
                for call in ast.walk(function):
                    if isinstance(call, ast.Call) and called_name(call) == "append":
                        self._message(module, call.args[0])

    def _message(self, module: Module, expression: ast.expr, depth: int = 0) -> None:
        for own, part in self._texts(module, expression, depth):
            self._add(own, part)

    def _add(self, module: Module, node: ast.expr, *, is_phrase: bool = False) -> None:
        template = template_of(node)
        if module.path.startswith(LEFT_OUT):
            return
        if not is_english(template):
            for home, variant in self._variants(module, node):
                self._add(home, variant, is_phrase=is_phrase)
            return
        # The names of placeholders may differ, and one may be there or not after another.
        skeleton = re.sub(r"(\{\w+\})+", "{}", template)
        message = self.found.setdefault(skeleton, Message(template, is_phrase=is_phrase))
        message.template = max(message.template, template, key=lambda each: each.count("{"))
        message.is_phrase = message.is_phrase and is_phrase
        if module.path not in message.files:
            message.files.append(module.path)
        if isinstance(node, ast.JoinedStr) and id(node) not in self._phrases_of:
            self._phrases_of[id(node)] = node
            for value in node.values:
                if isinstance(value, ast.FormattedValue):
                    self._phrases(module, value.value)

    def _variants(self, module: Module, node: ast.expr) -> Iterator[tuple[Module, ast.expr]]:
        """A text without words of its own, such as "{path} {what}", with those of a placeholder."""
        values = node.values if isinstance(node, ast.JoinedStr) else []
        for i, value in enumerate(values):
            if isinstance(value, ast.FormattedValue):
                found = False
                for home, text in self._texts(module, value.value, 1):
                    if is_english(template_of(text)):
                        inner = text.values if isinstance(text, ast.JoinedStr) else [text]
                        yield home, ast.JoinedStr([*values[:i], *inner, *values[i + 1 :]])
                        found = True
                if found:
                    return

    def _phrases(self, module: Module, expression: ast.expr) -> None:
        """English words that a placeholder may stand for."""
        for own, part in self._texts(module, expression, 1):
            template = template_of(part)
            if " " in template.strip(" ,;:.") and is_english(template):
                self._add(own, part, is_phrase=True)

    def _texts(
        self, module: Module, node: ast.expr, depth: int
    ) -> Iterator[tuple[Module, ast.expr]]:
        """The strings and f-strings that an expression may be, followed through names and calls."""
        if depth > MAX_DEPTH:
            return
        if isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str)
        ):
            yield module, node
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            yield module, joined_sum(node)
        else:
            for home, choice in self._choices(module, node):
                yield from self._texts(home, choice, depth + 1)

    def _choices(self, module: Module, node: ast.expr) -> Iterator[tuple[Module, ast.expr]]:
        """What an expression may stand for, one step further."""
        if isinstance(node, ast.IfExp):
            yield from ((module, node.body), (module, node.orelse))
        elif isinstance(node, ast.BoolOp):
            yield from ((module, value) for value in node.values)
        elif isinstance(node, ast.Name):
            yield from self._named(module, node)
        elif isinstance(node, ast.Subscript):
            yield from self._choices(module, node.value)
        elif isinstance(node, ast.Dict):
            yield from ((module, value) for value in node.values)
        elif isinstance(node, ast.Attribute) and node.attr in module.functions:
            yield from ((module, each) for each in results(module.functions[node.attr]))
        elif isinstance(node, ast.GeneratorExp | ast.ListComp):
            yield module, node.elt
        elif isinstance(node, ast.Call) and called_name(node) == "join":
            yield from ((module, each) for each in node.args)
        elif isinstance(node, ast.Call) and called_name(node) == "rstrip":
            assert isinstance(node.func, ast.Attribute)
            yield module, node.func.value
        elif isinstance(node, ast.Call):
            name = called_name(node)
            home = self.sources.function(module, name)
            if home is not None and name not in self.sources.errors:
                yield from ((home[0], each) for each in results(home[1]))

    def _named(self, module: Module, node: ast.Name) -> Iterator[tuple[Module, ast.expr]]:
        function = module.enclosing.get(node)
        while function is not None:
            assigned = [
                *assignments(function, node.id),
                *appended(function, node.id),
                *loop_keys(function, node.id),
            ]
            yield from ((module, each) for each in assigned)
            if node.id in parameter_names(function):
                yield from self._arguments(module, function, node.id)
            elif not assigned:
                function = module.enclosing.get(function)
                continue
            return
        constant = self.sources.constant(module, node.id)
        if constant is not None:
            yield constant

    def _arguments(
        self, home: Module, function: Function, name: str
    ) -> Iterator[tuple[Module, ast.expr]]:
        """What callers pass for a parameter of a function, and its default."""
        names = parameter_names(function)
        at = names.index(name) - (names[:1] in (["self"], ["cls"]))
        for module, call in self.sources.calls.get(self.sources.name_to_call(function), ()):
            keywords = {each.arg: each.value for each in call.keywords}
            if name in keywords:
                yield module, keywords[name]
            elif 0 <= at < len(call.args):
                yield module, call.args[at]
        for argument, default in zip(
            function.args.kwonlyargs, function.args.kw_defaults, strict=True
        ):
            if argument.arg == name and default is not None:
                yield home, default
