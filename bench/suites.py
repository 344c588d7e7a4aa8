"""The suite `all` for minilm and use: the main metric of each task, and which model is better.

Vectors are not cached: the time is that of a first run.
"""

import os
import time
import warnings
from collections.abc import Iterator

from bench.data import Data
from bench.measure import Figure, say, seconds
from bench.text import CORPORA
from malmoi.errors import MalmoiWarning
from malmoi.evaluate.sets.locate_sets import DATA_VARIABLE
from malmoi.evaluate.suites.result import SuiteRow
from malmoi.evaluate.suites.suite import evaluate_suite
from malmoi.reporting.reporter import SilentReporter

MODELS = ("minilm", "use")
SHOWN = {"better": "use is better", "worse": "minilm is better", "no difference": "no difference"}


def run(data: Data) -> Iterator[Figure]:
    """One figure per task; none where the data are not there."""
    os.environ.setdefault(DATA_VARIABLE, str(CORPORA.parent))
    if not CORPORA.parent.is_dir():
        say(f"no {CORPORA.parent} (set {DATA_VARIABLE}): suites are left out")
        return
    warnings.simplefilter("ignore", MalmoiWarning)
    start = time.perf_counter()
    scores = evaluate_suite(list(MODELS), "all", cache=False, reporter=SilentReporter())
    say(f"both models: {seconds(time.perf_counter() - start)}")
    for row in scores:
        if row.is_main:
            yield figure(row)


def figure(row: SuiteRow) -> Figure:
    """The score of minilm beside that of use, in points, with the verdict."""
    ours, peer = (f"{100 * (score.value or 0.0):.1f}" for score in row.scores)
    intervals = " and ".join(score.interval for score in row.scores)
    verdict = row.verdict(1)
    return Figure(
        name=row.task,
        ours=ours,
        peer=peer,
        remark=f"{row.task}: {row.metric}, n {row.scores[0].total:,}, {intervals},"
        f" {SHOWN[verdict] if verdict else 'undefined'} (peer: use).",
    )
