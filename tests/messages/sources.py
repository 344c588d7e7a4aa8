"""The syntax trees of malmoi's sources, and what names in them stand for."""

import ast
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import malmoi

ROOT = Path(malmoi.__file__).parent
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Module:
    """One file: its functions, constants and imports by name."""

    path: str
    tree: ast.Module
    functions: dict[str, Function] = field(default_factory=dict)
    constants: dict[str, ast.expr] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in ast.walk(self.tree):
            if isinstance(node, Function):
                self.functions.setdefault(node.name, node)
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    self.imports[alias.asname or alias.name] = (node.module, alias.name)
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.constants[node.targets[0].id] = node.value

    @cached_property
    def enclosing(self) -> dict[ast.AST, Function]:
        """The innermost function around each node."""
        found: dict[ast.AST, Function] = {}
        for function in ast.walk(self.tree):  # outer functions first
            if isinstance(function, Function):
                for node in ast.walk(function):
                    if node is not function:
                        found[node] = function
        return found


class Sources:
    """All modules, with every call of a function by its name."""

    def __init__(self, root: Path = ROOT) -> None:
        self.modules: dict[str, Module] = {}
        for path in sorted(root.rglob("*.py")):
            parts = ("malmoi", *path.relative_to(root).with_suffix("").parts)
            name = ".".join(parts).removesuffix(".__init__")
            relative = str(path.relative_to(root))
            self.modules[name] = Module(relative, ast.parse(path.read_text("utf-8")))

    @cached_property
    def calls(self) -> dict[str, list[tuple[Module, ast.Call]]]:
        """Every call, by the last part of the name that is called."""
        found: dict[str, list[tuple[Module, ast.Call]]] = {}
        for module in self.modules.values():
            for node in ast.walk(module.tree):
                if isinstance(node, ast.Call):
                    found.setdefault(called_name(node), []).append((module, node))
        return found

    @cached_property
    def _classes(self) -> list[ast.ClassDef]:
        return [
            node
            for module in self.modules.values()
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ClassDef)
        ]

    def name_to_call(self, function: Function) -> str:
        """The name by which a function is called: for `__init__`, that of its class."""
        if function.name != "__init__":
            return function.name
        return next(each.name for each in self._classes if function in each.body)

    @cached_property
    def errors(self) -> set[str]:
        """The names of `MalmoiError` and of all classes derived from it."""
        names = {"MalmoiError"}
        while True:
            more = {
                each.name
                for each in self._classes
                if any(isinstance(base, ast.Name) and base.id in names for base in each.bases)
            }
            if more <= names:
                return names
            names |= more

    def function(self, module: Module, name: str) -> tuple[Module, Function] | None:
        """The function of this name, defined in the module or imported into it."""
        if name in module.functions:
            return module, module.functions[name]
        source, original = module.imports.get(name, ("", ""))
        home = self.modules.get(source)
        return (home, home.functions[original]) if home and original in home.functions else None

    def constant(self, module: Module, name: str) -> tuple[Module, ast.expr] | None:
        """The constant of this name, defined in the module or imported into it."""
        if name in module.constants:
            return module, module.constants[name]
        source, original = module.imports.get(name, ("", ""))
        home = self.modules.get(source)
        return (home, home.constants[original]) if home and original in home.constants else None


def called_name(call: ast.Call) -> str:
    """The last part of the name that is called."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
