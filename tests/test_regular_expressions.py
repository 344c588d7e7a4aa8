"""No regular expression takes more than linear time for whatever text it is given.

Each one of every module is tried on long runs of what it is made of. The bound is far from what
linear time takes (milliseconds), and far below what quadratic time does (minutes).
"""

import importlib
import pkgutil
import re
import time
from contextlib import suppress
from typing import Any

import pytest

import malmoi
from malmoi.errors import InvalidArgumentError
from malmoi.query.analogy import parse_expression

LENGTH, SECONDS = 30_000, 4.0  # of the processor: what else runs does not count
OWN = {  # read what we wrote ourselves
    "malmoi.web.modules",
    "malmoi.serve.http.openapi",
    "malmoi.query.analogy",  # tried as a whole below
}
WHOLE = {  # match all of a text or nothing, from its beginning alone
    "malmoi.encode.checkpoint.locate.HUB_NAME",
    "malmoi.encode.checkpoint.hub.SHA256",
    "malmoi.search.storage.folder.OURS",
    "malmoi.serve.http.middleware.IDENTITY",
    "malmoi.text.tokenizers.CLITIC",
}
BITS = (
    " ", "\n", "\t ", "a", "1", ".", ",", "-", "'", '"', "=", ":", "!", "_", "/", "@", "가", "ㄱ",
    "é", "\u0300", "\ud800", "1,", "1.", "1 ", "a'", "'a", "a ", " a", "a-", "a.", "a/", "n't",
    "ngram ", "1=", ". ", "<0xFF", "ᄀ", "가a", "\" '", "1* ", "+ ", "a + ", "Iteration: ",
)  # fmt: skip


def compiled() -> list[tuple[str, "re.Pattern[Any]"]]:
    """Every pattern that a module keeps, by its name."""
    found: dict[object, tuple[str, re.Pattern[Any]]] = {}
    for module in pkgutil.walk_packages(malmoi.__path__, "malmoi."):
        if module.name in OWN or module.name.endswith("__main__"):
            continue
        try:
            names = vars(importlib.import_module(module.name))
        except ImportError:  # its extra is not installed
            continue
        for name, value in names.items():
            if isinstance(value, re.Pattern):
                found.setdefault(value.pattern, (f"{module.name}.{name}", value))
    return sorted(found.values(), key=lambda one: one[0])


PATTERNS = compiled()


@pytest.mark.parametrize(("name", "pattern"), PATTERNS, ids=[name for name, _ in PATTERNS])
def test_a_pattern_takes_linear_time(name: str, pattern: "re.Pattern[Any]") -> None:
    for bit in BITS:
        text = (bit * (LENGTH // len(bit))) + "\0"
        given = text if isinstance(pattern.pattern, str) else text.encode("utf-8", "replace")
        begun = time.process_time()
        if name in WHOLE:
            pattern.fullmatch(given)
        else:
            for _ in pattern.finditer(given):
                pass
        assert time.process_time() - begun < SECONDS, f"{name} on {bit!r}"


@pytest.mark.parametrize("bit", BITS)
def test_an_expression_is_parsed_in_linear_time(bit: str) -> None:
    begun = time.process_time()
    with suppress(InvalidArgumentError):
        parse_expression("a " + bit * (LENGTH // len(bit)) + "\0")
    assert time.process_time() - begun < SECONDS
