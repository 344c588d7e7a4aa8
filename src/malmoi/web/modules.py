"""A page's ES modules joined into one script, for a page on disk cannot import its own files.

The rule: a module becomes a function that returns what it exports, and an import takes names
out of what such a function returned. It covers the one form of import and the one form of
export that the modules use, and refuses any other.
"""

import re
from collections.abc import Mapping

IMPORT = re.compile(r'^import \{([^}]*)\} from "(?:\./|\.\./shared/)(\w+)\.js";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.MULTILINE)
OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def joined(modules: Mapping[str, str], start: str) -> str:
    """A script that does what importing the module `start` would do."""
    order: list[str] = []
    _add_module(modules, start, (), order)
    return "".join(_as_function(name, modules[name]) for name in order)


def _add_module(
    modules: Mapping[str, str], name: str, above: tuple[str, ...], order: list[str]
) -> None:
    """Put a module into `order` after those that it imports."""
    if name in above:
        raise ValueError(f"modules import each other: {' → '.join((*above, name))}")
    if name in order:
        return
    for match in IMPORT.finditer(modules[name]):
        _add_module(modules, match[2], (*above, name), order)
    order.append(name)


def _as_function(name: str, text: str) -> str:
    exported = [match[1] for match in EXPORT.finditer(text)]
    body = IMPORT.sub(_destructured, EXPORT.sub("", text))
    left = OTHER.search(body)
    if left:
        raise ValueError(f"{name}.js: there is no rule for '{left[0]}'")
    return f"const ${name} = (() => {{\n{body}return {{ {', '.join(exported)} }};\n}})();\n"


def _destructured(match: re.Match[str]) -> str:
    names = match[1].replace(" as ", ": ")
    return f"const {{{names}}} = ${match[2]};"
