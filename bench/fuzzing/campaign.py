"""Cases shared out to workers, and what became of them."""

import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import Empty, Queue
from threading import Thread

from bench.measure import ROOT

PATIENCE = 20.0  # seconds for a case
STARTING = 180.0  # and for what is compiled and made before the first


@dataclass
class Outcome:
    """What became of the cases of one subject."""

    subject: str
    cases: int = 0
    signals: list[str] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)

    @property
    def problems(self) -> list[str]:
        """All that went wrong."""
        return [*self.signals, *self.hangs, *self.raw, *self.silent]

    def note(self, case: int, problem: str) -> None:
        """Something that a worker has found."""
        kind = self.silent if "silently" in problem else self.raw
        kind.append(f"{self.subject} {case}: {problem}")


def run_campaign(
    cases: Mapping[str, range], *, workers: int = 2, deadline: float = float("inf")
) -> list[Outcome]:
    """Run the cases of each subject; none are begun after the deadline (of `time.monotonic`)."""
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda name: run_subject(name, cases[name], deadline), cases))


def run_subject(subject: str, cases: range, deadline: float = float("inf")) -> Outcome:
    """All cases of a subject, in as many processes as it takes."""
    outcome, first = Outcome(subject), cases.start
    while first < cases.stop and time.monotonic() < deadline:
        last = run_worker(outcome, first, cases.stop, deadline)
        first = last + 1
    return outcome


def run_worker(outcome: Outcome, first: int, stop: int, deadline: float) -> int:
    """Run cases until a worker ends; the last one that was begun."""
    command = [sys.executable, "-m", "bench.fuzzing.worker", outcome.subject, str(first), str(stop)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    case, begun = first - 1, False
    for line in told(process):
        if line is None:
            outcome.hangs.append(f"{outcome.subject} {case}: still at it after {PATIENCE:.0f} s")
            process.kill()
            break
        said = json.loads(line)
        if "problem" in said:
            outcome.note(said["case"], said["problem"])
            continue
        case, begun = said["case"], True
        outcome.cases += 1
        if time.monotonic() > deadline:
            process.kill()
            process.wait()
            return stop
    errors = process.stderr.read() if process.stderr else ""
    code = process.wait()
    if not begun:
        raise RuntimeError(f"the worker for '{outcome.subject}' did not begin ({code}): {errors}")
    if code and not (outcome.hangs and outcome.hangs[-1].startswith(f"{outcome.subject} {case}:")):
        outcome.signals.append(f"{outcome.subject} {case}: ended with code {code} {errors[-300:]}")
    return case if code else stop


def told(process: "subprocess.Popen[str]") -> Iterator[str | None]:
    """The lines that a worker prints; None where it takes too long for the next one."""
    lines: Queue[str | None] = Queue()

    def read(stream: Iterable[str]) -> None:
        for line in stream:
            lines.put(line)
        lines.put(None)

    assert process.stdout is not None
    Thread(target=read, args=(process.stdout,), daemon=True).start()
    patience = STARTING
    while True:
        try:
            line = lines.get(timeout=patience)
        except Empty:
            yield None
            return
        if line is None:
            return
        yield line
        patience = PATIENCE
