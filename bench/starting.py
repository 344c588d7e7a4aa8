"""How long it takes to start: the import, `--help`, and a question from the shell.

Every run is a process of its own; bare Python's start is taken off the imports alone.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from bench.data import Data
from bench.measure import Figure, best_of, command, say, within

ROUNDS = 10
PROGRAM = Path(sys.executable).with_name("malmoi")
IMPORT_LIMIT, HELP_LIMIT, QUESTION_LIMIT = 0.05, 0.3, 1.0  # seconds


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part."""
    say(f"starting processes, {ROUNDS} rounds")
    codes = ("pass", "import malmoi", "import gensim")
    bare, ours, peer = best_of(ROUNDS, *(command([sys.executable, "-c", code]) for code in codes))
    yield within("import, above bare Python", ours - bare, IMPORT_LIMIT, peer - bare)
    if not PROGRAM.exists():
        yield Figure(name="malmoi --help", ours="no such command", met=False)
        return
    yield shell("malmoi --help", ["--help"], HELP_LIMIT)
    yield shell(
        "malmoi neighbours GLOVE king",
        ["neighbours", str(data.glove_file(".malmoi")), "king"],
        QUESTION_LIMIT,
    )


def shell(name: str, words: list[str], limit: float) -> Figure:
    """A command as it is typed."""
    (took,) = best_of(ROUNDS, command([str(PROGRAM), *words]))
    return within(name, took, limit)
