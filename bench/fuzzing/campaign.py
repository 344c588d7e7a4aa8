"""Cases shared out to workers, and what became of them."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import Empty, Queue
from threading import Thread
from typing import IO

from bench.measure import ROOT

PATIENCE = 30.0  # seconds for a case
STARTING = 240.0  # and for what is compiled and made before the first

Job = tuple[str, int, int]  # a subject, its first case, the one after its last


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


def run_campaign(
    cases: Mapping[str, range], *, workers: int = 2, deadline: float = float("inf")
) -> list[Outcome]:
    """Run the cases of each subject; none are begun after the deadline (of `time.monotonic`)."""
    outcomes = {name: Outcome(name) for name in cases}
    shares = [
        [(name, *_share(part, worker, workers)) for name, part in cases.items()]
        for worker in range(workers)
    ]
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda jobs: run_jobs(jobs, outcomes, deadline), shares))
    return list(outcomes.values())


def _share(cases: range, worker: int, workers: int) -> tuple[int, int]:
    bounds = [cases.start + len(cases) * each // workers for each in (worker, worker + 1)]
    return bounds[0], bounds[1]


def run_jobs(jobs: list[Job], outcomes: Mapping[str, Outcome], deadline: float) -> None:
    """All cases of some subjects, in as many processes as it takes."""
    jobs = [job for job in jobs if job[1] < job[2]]
    while jobs and time.monotonic() < deadline:
        stopped = run_worker(jobs, outcomes, deadline)
        if stopped is None:
            return
        name, case = stopped
        at = [job[0] for job in jobs].index(name)
        jobs = [(name, case + 1, jobs[at][2]), *jobs[at + 1 :]]
        jobs = [job for job in jobs if job[1] < job[2]]


def run_worker(
    jobs: list[Job], outcomes: Mapping[str, Outcome], deadline: float
) -> tuple[str, int] | None:
    """Run cases until a worker ends; the case that it ended in before it was done with all."""
    with tempfile.TemporaryFile("w+") as errors, start(jobs, errors) as process:
        last, hangs = watch(process, outcomes, deadline)
        code = process.wait()
        errors.seek(0)
        if code == 0 or time.monotonic() > deadline:
            return None
        if last is None or code > 0:
            raise RuntimeError(f"a worker ended with {code} at {last}: {errors.read()[-2000:]}")
    name, case = last
    if hangs:
        outcomes[name].hangs.append(f"{name} {case}: not done after {PATIENCE:.0f} s")
    else:
        outcomes[name].signals.append(f"{name} {case}: killed by signal {-code}")
    return last


def start(jobs: list[Job], errors: IO[str]) -> "subprocess.Popen[str]":
    """A worker that was told what to do."""
    command = [sys.executable, "-m", "bench.fuzzing.worker", json.dumps(jobs)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=ROOT)


def watch(
    process: "subprocess.Popen[str]", outcomes: Mapping[str, Outcome], deadline: float
) -> tuple[tuple[str, int] | None, bool]:
    """Note what a worker tells until it ends; its last case, and whether it had to be killed."""
    assert process.stdout is not None
    lines: Queue[str] = Queue()
    reader = Thread(target=pass_on, args=(process.stdout, lines))
    reader.start()
    last, patience, hangs = None, STARTING, False
    try:
        while line := lines.get(timeout=patience):
            said = json.loads(line)
            outcome = outcomes[said["subject"]]
            patience = PATIENCE if "case" in said else STARTING
            if problem := said.get("problem"):
                kind = outcome.silent if "silently" in problem else outcome.raw
                kind.append(f"{outcome.subject} {said['case']}: {problem}")
            elif "case" in said:
                last = said["subject"], said["case"]
                outcome.cases += 1
            if time.monotonic() > deadline:
                break
    except Empty:
        hangs = True
    if process.poll() is None and (hangs or time.monotonic() > deadline):
        process.kill()
    reader.join()
    return last, hangs


def pass_on(stream: Iterable[str], lines: "Queue[str]") -> None:
    """Every line, and an empty one at the end."""
    for line in stream:
        lines.put(line)
    lines.put("")
