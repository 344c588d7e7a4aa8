"""100,000 damaged files of every kind that is read: what becomes of them.

Asked for: no signal, no hang, no error but one of `malmoi.errors`, and, of files with checksums,
no answer other than that of the whole file. `--minutes` bounds how long it goes on.
"""

import os
import time
from collections.abc import Iterator

from bench.data import Data
from bench.fuzzing.campaign import Outcome, run_campaign
from bench.fuzzing.catalogue import subjects
from bench.measure import Figure, say

CASES = 100_000
SHOWN = 20


def run(data: Data) -> Iterator[Figure]:
    """How many went wrong, and how."""
    workers = os.cpu_count() or 1
    say(f"{CASES:,} damaged files of {len(subjects())} kinds, in {workers} processes at a time")
    outcomes = run_campaign(
        shared_out(CASES), workers=workers, deadline=time.monotonic() + 60 * data.minutes
    )
    for problem in [problem for each in outcomes for problem in each.problems][:SHOWN]:
        say(problem)
    total = sum(each.cases for each in outcomes)
    checked = sum(each.cases for each in outcomes if subjects()[each.subject].checked)
    remark = (
        f"Damaged files: {total:,} of {len(outcomes)} kinds, {checked:,} of them with checksums;"
        " bits flipped, blocks overwritten, cut, inserted, zeroed, repeated, dropped and swapped,"
        " fields of headers edited, files exchanged or gone."
    )
    yield count("damaged files: signals", outcomes, "signals", total, remark)
    yield count("damaged files: hangs", outcomes, "hangs", total)
    yield count("damaged files: raw errors", outcomes, "raw", total)
    yield count("damaged files: silent", outcomes, "silent", checked)


def shared_out(cases: int, seed: int = 0) -> dict[str, range]:
    """So many cases, shared out by the subjects' weights; slow subjects come first."""
    found = sorted(subjects().values(), key=lambda subject: subject.weight)
    total = sum(subject.weight for subject in found)
    shares = {subject.name: -(-cases * subject.weight // total) for subject in found}
    return {name: range(seed, seed + share) for name, share in shares.items()}


def count(name: str, outcomes: list[Outcome], kind: str, cases: int, remark: str = "") -> Figure:
    """How many cases ended in one of the ways that none should."""
    found = sum(len(getattr(outcome, kind)) for outcome in outcomes)
    return Figure(
        name=name,
        ours=f"{found:,} of {cases:,}",
        asked="0",
        met=found == 0,
        remark=remark,
    )
